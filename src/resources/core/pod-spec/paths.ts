// The rules of paths in pod specs: files of a volume stay inside it, and nothing climbs out of a folder.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'

export const hasBacksteps = (path: string): boolean => path.includes('..') && path.split('/').includes('..')

export const checkNoBacksteps = (path: string, field: string): readonly FieldError[] =>
  hasBacksteps(path) ? [invalid(field, path, "must not contain '..'")] : noErrors

/** A path below some folder. */
export const checkDescendingPath = (path: string, field: string): readonly FieldError[] =>
  joined(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : noErrors, checkNoBacksteps(path, field))

/** A file of a projected volume; names with two dots in front belong to the kubelet's own bookkeeping. */
export const checkProjectedPath = (path: string, field: string): readonly FieldError[] =>
  joined(
    checkDescendingPath(path, field),
    path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : noErrors,
  )
