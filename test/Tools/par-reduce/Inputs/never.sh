#!/bin/sh
# Nothing is interesting.
exit 0
