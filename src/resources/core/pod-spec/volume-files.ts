// The rules of volumes that are made of files: config maps, secrets, the downward API, and projections of several of them into one.

import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkPart, checkPresent, joined } from '../../../api/validation/collect.js'
import { noErrors } from '../../../api/validation/fields.js'
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../v1.schema.js'
import { fileFields, validateFieldRef, validateResourceFieldRef } from './downward-fields.js'
import { checkProjectedPath } from './paths.js'
import type { PodRules } from './pod-rules.js'

const maxMode = 0o777

const checkMode = (mode: number | undefined, field: string): readonly FieldError[] =>
  mode === undefined || (mode >= 0 && mode <= maxMode)
    ? noErrors
    : [invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]

export const validateSecretVolume = ({ secretName, defaultMode, items }: SecretVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkPresent(secretName, `${field}.secretName`),
    checkMode(defaultMode, `${field}.defaultMode`),
    checkEach(items, `${field}.items`, validateKeyToPath),
  )

export const validateConfigMapVolume = ({ name, defaultMode, items }: ConfigMapVolumeSource, field: string): readonly FieldError[] =>
  joined(
    checkPresent(name, `${field}.name`),
    checkMode(defaultMode, `${field}.defaultMode`),
    checkEach(items, `${field}.items`, validateKeyToPath),
  )

const validateKeyToPath = ({ key, path = '', mode }: KeyToPath, field: string): readonly FieldError[] =>
  joined(
    checkPresent(key, `${field}.key`),
    checkPresent(path, `${field}.path`),
    checkProjectedPath(path, `${field}.path`),
    checkMode(mode, `${field}.mode`),
  )

/** What is wrong with a file is reported for the volume, whichever file it is. */
export const validateDownwardVolume = (source: DownwardAPIVolumeSource, field: string, rules: PodRules): readonly FieldError[] =>
  joined(
    checkMode(source.defaultMode, `${field}.defaultMode`),
    checkEach(source.items, field, (file) => validateDownwardFile(file, field, rules)),
  )

function validateDownwardFile(file: DownwardAPIVolumeFile, field: string, rules: PodRules): readonly FieldError[] {
  const { path = '', fieldRef, resourceFieldRef, mode } = file
  return joined(
    checkPresent(path, `${field}.path`),
    checkProjectedPath(path, `${field}.path`),
    validateReference({ fieldRef, resourceFieldRef }, field, rules),
    checkMode(mode, `${field}.mode`),
  )
}

function validateReference(
  { fieldRef, resourceFieldRef }: { readonly [K in 'fieldRef' | 'resourceFieldRef']: DownwardAPIVolumeFile[K] | undefined },
  field: string,
  rules: PodRules,
): readonly FieldError[] {
  if (fieldRef !== undefined) {
    return joined(
      validateFieldRef(fieldRef, `${field}.fieldRef`, fileFields),
      resourceFieldRef === undefined
        ? noErrors
        : [invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')],
    )
  }
  if (resourceFieldRef === undefined) return [required(field, 'one of fieldRef and resourceFieldRef is required')]
  return validateResourceFieldRef(resourceFieldRef, `${field}.resourceFieldRef`, { rules, isInVolume: true })
}

export function validateProjectedVolume(projected: ProjectedVolumeSource, field: string, rules: PodRules): readonly FieldError[] {
  const taken: TakenPaths = { paths: new Set(), field }
  return joined(
    checkMode(projected.defaultMode, `${field}.defaultMode`),
    checkEach(projected.sources, `${field}.sources`, (source, at) => validateProjection(source, at, { rules, taken })),
  )
}

/** The paths that sources have taken so far; a conflict is reported for the whole volume. */
interface TakenPaths {
  readonly paths: Set<string>
  readonly field: string
}

function take(taken: TakenPaths, path: string, shown: string): readonly FieldError[] {
  if (path === '') return noErrors
  if (taken.paths.has(path)) return [invalid(taken.field, shown, 'conflicting duplicate paths')]
  taken.paths.add(path)
  return noErrors
}

interface ProjectionContext {
  readonly rules: PodRules
  readonly taken: TakenPaths
}

function validateProjection(source: VolumeProjection, field: string, { rules, taken }: ProjectionContext): readonly FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source
  const keyed = ({ name = '', items }: NonNullable<typeof secret>, at: string): readonly FieldError[] =>
    joined(
      checkPresent(name, `${at}.name`),
      checkEach(items, `${at}.items`, (item, itemAt) => joined(validateKeyToPath(item, itemAt), take(taken, item.path ?? '', name))),
    )
  const count = [secret, configMap, downwardAPI, serviceAccountToken].filter((part) => part !== undefined).length
  return joined(
    checkPart(secret, `${field}.secret`, keyed),
    checkPart(configMap, `${field}.configMap`, keyed),
    checkPart(downwardAPI, `${field}.downwardAPI`, ({ items }, at) =>
      checkEach(items, at, (file) => joined(validateDownwardFile(file, at, rules), take(taken, file.path ?? '', file.path ?? ''))),
    ),
    checkPart(serviceAccountToken, `${field}.serviceAccountToken`, (token, at) => validateToken(token, at, taken.field)),
    count > 1 ? [forbidden(field, 'may not specify more than 1 volume type')] : noErrors,
  )
}

const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

function validateToken(
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
  field: string,
  volume: string,
): readonly FieldError[] {
  const at = `${field}.expirationSeconds`
  return joined(
    expirationSeconds < minTokenSeconds ? [invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes')] : noErrors,
    expirationSeconds > maxTokenSeconds
      ? [invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
      : noErrors,
    checkPresent(path, `${volume}.path`),
  )
}
