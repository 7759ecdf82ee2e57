// Explains a failed start to the operator in one sentence.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { ListenError } from '../net/listen/listen-error.js'
import { StorageRefusedError, StorageUnavailableError } from '../storage/storage.js'
import { FlagError } from './flags/flag.js'

const diskProblems: { readonly [code: string]: string } = {
  EROFS: 'the disk is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  ENOENT: 'it cannot be created',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'a file exists at this path',
  EIO: 'the disk reports an I/O error',
}

/** A failed start, explained by its message. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

const isSelfExplaining = (error: unknown): error is Error =>
  error instanceof FlagError ||
  error instanceof StartupError ||
  error instanceof ListenError ||
  error instanceof StorageRefusedError ||
  error instanceof StorageUnavailableError ||
  // Bootstrap objects could not be stored, such as on a full disk.
  (error instanceof ApiError && error.status.code === 503)

/** Unexpected errors are bugs, and are shown with their stack. */
export function explainStartupError(error: unknown): string {
  if (isSelfExplaining(error)) return error.message
  // Rejected by admission or by stored objects.
  if (error instanceof ApiError && error.status.code < 500) return `cannot store the bootstrap objects: ${error.message}`
  const { code = '', path } = (error ?? {}) as NodeJS.ErrnoException
  const problem = diskProblems[code]
  if (problem !== undefined && path !== undefined) return `cannot use ${path}: ${problem}`
  return `start failed: ${error instanceof Error ? error.stack : String(error)}`
}
