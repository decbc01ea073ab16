/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_bad;

void find(enum verdict verdict, const char *subject, const char *format, ...)
{
	static const char *const words[] = { [FINE] = "ok", [NOTE] = "note", [BAD] = "bad" };
	va_list arguments;

	is_bad |= verdict == BAD;
	printf("%-5s %-12s ", words[verdict], subject);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

void advise(const char *format, ...)
{
	va_list arguments;

	printf("%*s-> ", 19, "");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

bool found_bad(void)
{
	return is_bad;
}

static void advise_on_permission(const char *path)
{
	struct stat status;

	if (!stat(path, &status)) {
		struct passwd *owner = getpwuid(status.st_uid);
		struct group *group = getgrgid(status.st_gid);

		advise("it has mode %04o, owner %s, group %s; this is user %u", status.st_mode & 07777,
		       owner ? owner->pw_name : "without a name", group ? group->gr_name : "without a name", geteuid());
	}
	advise("usually all may read and write it (mode 0666, by the udev rules of the package rdma-core);");
	advise("else become a member of its group: usermod -aG GROUP USER");
}

void find_closed_node(const char *subject, const char *path)
{
	int error = errno;

	find(BAD, subject, "%s: %s", path, strerror(error));
	switch (error) {
	case ENOENT:
		advise("udev makes it when the kernel has the device: udevadm trigger");
		advise("in a container: give it the folder, such as --device=/dev/infiniband");
		break;
	case EACCES:
		advise_on_permission(path);
		break;
	case EPERM:
		advise("the rules for devices of the container or service forbid it: --device=/dev/infiniband, DeviceAllow=");
		break;
	case ENXIO:
	case ENODEV:
		advise("an old node, with a number that the kernel does not know: remove it, and udevadm trigger");
		break;
	case EMFILE:
	case ENFILE:
		advise("close descriptors, or raise the limit: ulimit -n");
		break;
	default:
		advise("the kernel's log may say more: dmesg");
	}
}

bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;
	int error;

	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	error = errno;
	close(fd);
	errno = error;
	if (length < 0)
		return false;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}
