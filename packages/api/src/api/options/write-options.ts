// CreateOptions, UpdateOptions and PatchOptions from the query. Admission webhooks receive the same objects.

import type { FeatureGates } from '../definition/resource-definition.js'
import { type FieldError, forbidden, notSupported, required } from '../field-error.js'
import type { Identity } from '../identity.js'
import type * as meta from '../meta.schema.js'
import { validateFieldManager } from '../validation/metadata/object-meta.js'
import { type TypeMeta, throwIfInvalid, typeMetaOf } from './options-object.js'
import type { Query } from './query.js'
import { booleanParameter, textParameter } from './query-parameters.js'

export type CreateOptions = meta.CreateOptions & TypeMeta
export type UpdateOptions = meta.UpdateOptions & TypeMeta
export type PatchOptions = meta.PatchOptions & TypeMeta

type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

interface CommonOptions {
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

export const isDryRun = (options: { readonly dryRun?: readonly string[] }): boolean => (options.dryRun?.length ?? 0) > 0

interface ValidatedCall {
  readonly options: { readonly fieldValidation?: string }
  readonly gates: FeatureGates
}

/** Default: Warn. Without the feature gate, unknown and duplicate fields are always ignored. */
export const fieldValidationOf = ({ options, gates }: ValidatedCall): FieldValidation =>
  gates('ServerSideFieldValidation') ? ((options.fieldValidation as FieldValidation | undefined) ?? 'Warn') : 'Ignore'

type ParseOptions<Options> = (query: Query, identity: Identity) => Options

/** Caches the options of the last query, because most writes have the same query. */
function cacheLast<Options>(parse: ParseOptions<Options>): ParseOptions<Options> {
  let last: { readonly query: Query; readonly identity: Identity; readonly options: Options } | undefined
  return (query, identity) => {
    if (last?.query !== query || last.identity !== identity) last = { query, identity, options: parse(query, identity) }
    return last.options
  }
}

export const parseCreateOptions = cacheLast((query, identity): CreateOptions => {
  const common = commonOptions(query)
  throwIfInvalid('CreateOptions', identity, commonErrors(common))
  return { ...typeMetaOf('CreateOptions', identity), ...common }
})

export const parseUpdateOptions = cacheLast((query, identity): UpdateOptions => {
  const common = commonOptions(query)
  throwIfInvalid('UpdateOptions', identity, commonErrors(common))
  return { ...typeMetaOf('UpdateOptions', identity), ...common }
})

interface PatchContext {
  readonly identity: Identity
  readonly isApply: boolean
}

export const parsePatchOptions = (query: Query, { identity, isApply }: PatchContext): PatchOptions =>
  (isApply ? parseApplyOptions : parseNonApplyOptions)(query, identity)

const parseApplyOptions = cacheLast((query, identity) => patchOptionsOf(query, { identity, isApply: true }))
const parseNonApplyOptions = cacheLast((query, identity) => patchOptionsOf(query, { identity, isApply: false }))

function patchOptionsOf(query: Query, { identity, isApply }: PatchContext): PatchOptions {
  const common = commonOptions(query)
  const force = booleanParameter(query, 'force')
  const errors = [...commonErrors(common)]
  if (isApply && common.fieldManager === undefined) errors.unshift(required('fieldManager', 'is required for apply patch'))
  if (!isApply && force !== undefined) errors.unshift(forbidden('force', 'may not be specified for non-apply patch'))
  throwIfInvalid('PatchOptions', identity, errors)
  return { ...typeMetaOf('PatchOptions', identity), ...common, ...(force === undefined ? {} : { force }) }
}

function commonOptions(query: Query): CommonOptions {
  const dryRun = query.all('dryRun').filter((value) => value !== '')
  const fieldManager = textParameter(query, 'fieldManager')
  const fieldValidation = textParameter(query, 'fieldValidation')
  return {
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(fieldManager === undefined ? {} : { fieldManager }),
    ...(fieldValidation === undefined ? {} : { fieldValidation }),
  }
}

const commonErrors = (options: CommonOptions): readonly FieldError[] => [
  ...validateFieldManager(options.fieldManager ?? '', 'fieldManager'),
  ...dryRunErrors(options.dryRun),
  ...fieldValidationErrors(options.fieldValidation),
]

export const dryRunErrors = (dryRun: readonly string[] | undefined): readonly FieldError[] =>
  dryRun?.some((value) => value !== 'All') ? [notSupported('dryRun', dryRun, ['All'])] : []

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn']
const fieldValidationErrors = (value: string | undefined): readonly FieldError[] =>
  value === undefined || fieldValidations.includes(value) ? [] : [notSupported('fieldValidation', value, fieldValidations)]
