// The spec of a claim for storage, in claims themselves and in templates from which claims are made.

import { type FieldError, forbidden, invalid, notSupported, required } from '../../api/field-error.js'
import { checkOptionalChoice, checkPart, checkPresent, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { validateLabelSelector } from '../../api/validation/label-selector.js'
import { dnsLabel, dnsSubdomain } from '../../api/validation/text-rules.js'
import type { PodRules } from './pod-spec/pod-rules.js'
import { checkQuantityPositive } from './pod-spec/quantities.js'
import type { PersistentVolumeClaimSpec, TypedObjectReference } from './v1.schema.js'

const sharedModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const soleMode = 'ReadWriteOncePod'
const volumeModes = ['Block', 'Filesystem']

export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  field: string,
  { gates }: Pick<PodRules, 'gates'>,
): readonly FieldError[] {
  const { accessModes = [], selector, resources, storageClassName = '', volumeMode } = spec
  return joined(
    accessModes.length === 0 ? [required(`${field}.accessModes`, 'at least 1 access mode is required')] : noErrors,
    validateLabelSelector(selector, `${field}.selector`),
    validateAccessModes(accessModes, `${field}.accessModes`, gates('ReadWriteOncePod') ? [...sharedModes, soleMode] : sharedModes),
    validateSize(resources?.requests?.['storage'], `${field}.resources[storage]`),
    storageClassName === '' ? noErrors : checkText(storageClassName, `${field}.storageClassName`, dnsSubdomain),
    checkOptionalChoice(volumeMode, `${field}.volumeMode`, volumeModes),
    validateSources(spec, field),
  )
}

function validateAccessModes(modes: readonly string[], field: string, known: readonly string[]): readonly FieldError[] {
  const isMixed = modes.includes(soleMode) && modes.some((mode) => sharedModes.includes(mode))
  return joined(
    modes.filter((mode) => !known.includes(mode)).map((mode) => notSupported(field, mode, known)),
    isMixed ? [forbidden(field, 'may not use ReadWriteOncePod with other access modes')] : noErrors,
  )
}

const validateSize = (size: string | undefined, field: string): readonly FieldError[] =>
  size === undefined ? [required(field)] : checkQuantityPositive(size, field)

/** Data may come from elsewhere; the older field must not contradict the newer one. */
function validateSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, field: string): readonly FieldError[] {
  return joined(
    checkPart(dataSource, `${field}.dataSource`, validateSource),
    checkPart(dataSourceRef, `${field}.dataSourceRef`, validateSource),
    validateAgreement({ dataSource, dataSourceRef }, field),
  )
}

function validateSource({ apiGroup = '', kind = '', name, namespace = '' }: TypedObjectReference, field: string): readonly FieldError[] {
  const problem = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
  return joined(
    checkPresent(name, `${field}.name`),
    checkPresent(kind, `${field}.kind`),
    apiGroup === '' && kind !== 'PersistentVolumeClaim' ? [invalid(field, kind, problem)] : noErrors,
    namespace === '' ? noErrors : checkText(namespace, `${field}.namespace`, dnsLabel),
  )
}

type Sources = { readonly [K in 'dataSource' | 'dataSourceRef']: PersistentVolumeClaimSpec[K] | undefined }

function validateAgreement({ dataSource, dataSourceRef }: Sources, field: string): readonly FieldError[] {
  if (dataSource === undefined || dataSourceRef === undefined) return noErrors
  if ((dataSourceRef.namespace ?? '') !== '') {
    return [invalid(field, `${field}.dataSource`, 'may not be specified when dataSourceRef.namespace is specified')]
  }
  const isSame = (['apiGroup', 'kind', 'name'] as const).every((name) => dataSource[name] === dataSourceRef[name])
  return isSame ? noErrors : [invalid(field, `${field}.dataSource`, 'must match dataSourceRef')]
}
