// Why a server did not start, as one sentence for the operator; undefined for what is a mistake of the program and wants its stack shown.

import { ApiError } from '../api/api-error.js'
import { ListenError } from '../net/listen-error.js'
import { StorageRefusedError, StorageUnavailableError } from '../storage/storage.js'
import { FlagError } from './options/flag.js'

const diskProblems: { readonly [code: string]: string } = {
  EROFS: 'the disk is read-only',
  EACCES: 'not allowed to write there',
  EPERM: 'not allowed to write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  ENOENT: 'it cannot be made there',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file is in the way',
  EIO: 'the disk does not answer',
}

/** A start that failed for a reason that its message says. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

const isSelfExplaining = (error: unknown): error is Error =>
  error instanceof FlagError ||
  error instanceof StartError ||
  error instanceof ListenError ||
  error instanceof StorageRefusedError ||
  error instanceof StorageUnavailableError ||
  // The first objects could not be stored: the disk is full, or the like.
  (error instanceof ApiError && error.status.code === 503)

export function explainStartFailure(error: unknown): string | undefined {
  if (isSelfExplaining(error)) return error.message
  // By the flags, such as those of admission, or by what was stored before.
  if (error instanceof ApiError && error.status.code < 500)
    return `cannot store the objects that every server starts with: ${error.message}`
  const { code = '', path } = (error ?? {}) as NodeJS.ErrnoException
  const problem = diskProblems[code]
  if (problem === undefined || path === undefined) return undefined
  return `cannot use ${path}: ${problem}`
}
