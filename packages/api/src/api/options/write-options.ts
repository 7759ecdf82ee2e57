// What a POST, PUT or PATCH may say besides its body. The result is the options object that admission webhooks are shown.

import { type FieldError, forbidden, notSupported, required } from '../field-error.js'
import type { Identity } from '../identity.js'
import type * as meta from '../meta.schema.js'
import { validateFieldManager } from '../validation/managed-fields.js'
import { refuse, type TypeMeta, typeOf } from './options-object.js'
import { booleanParameter, textParameter } from './parameters.js'
import type { Query } from './query.js'

export type CreateOptions = meta.CreateOptions & TypeMeta
export type UpdateOptions = meta.UpdateOptions & TypeMeta
export type PatchOptions = meta.PatchOptions & TypeMeta

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

interface CommonOptions {
  readonly dryRun?: readonly string[]
  readonly fieldManager?: string
  readonly fieldValidation?: string
}

/** With a dry run everything happens but the storing. */
export const isDryRun = (options: { readonly dryRun?: readonly string[] }): boolean => (options.dryRun?.length ?? 0) > 0

/** What becomes of unknown and repeated fields; a warning unless the client says otherwise. */
export const fieldValidationOf = (options: { readonly fieldValidation?: string }): FieldValidation =>
  (options.fieldValidation as FieldValidation | undefined) ?? 'Warn'

type ParseOptions<Options> = (query: Query, identity: Identity) => Options

/** Most writes have no parameters, or those of the write before: then the options are the same, too. Queries are never changed. */
function keepingLast<Options>(parse: ParseOptions<Options>): ParseOptions<Options> {
  let last: { readonly query: Query; readonly identity: Identity; readonly options: Options } | undefined
  return (query, identity) => {
    if (last?.query !== query || last.identity !== identity) last = { query, identity, options: parse(query, identity) }
    return last.options
  }
}

export const parseCreateOptions = keepingLast((query, identity): CreateOptions => {
  const common = commonOptions(query)
  refuse('CreateOptions', identity, commonErrors(common))
  return { ...typeOf('CreateOptions', identity), ...common }
})

export const parseUpdateOptions = keepingLast((query, identity): UpdateOptions => {
  const common = commonOptions(query)
  refuse('UpdateOptions', identity, commonErrors(common))
  return { ...typeOf('UpdateOptions', identity), ...common }
})

export interface PatchContext {
  readonly identity: Identity
  readonly isApply: boolean
}

export const parsePatchOptions = (query: Query, { identity, isApply }: PatchContext): PatchOptions =>
  (isApply ? parseOfApply : parseOfOthers)(query, identity)

const parseOfApply = keepingLast((query, identity) => patchOptionsOf(query, { identity, isApply: true }))
const parseOfOthers = keepingLast((query, identity) => patchOptionsOf(query, { identity, isApply: false }))

function patchOptionsOf(query: Query, { identity, isApply }: PatchContext): PatchOptions {
  const common = commonOptions(query)
  const force = booleanParameter(query, 'force')
  const errors = [...commonErrors(common)]
  if (isApply && common.fieldManager === undefined) errors.unshift(required('fieldManager', 'is required for apply patch'))
  if (!isApply && force !== undefined) errors.unshift(forbidden('force', 'may not be specified for non-apply patch'))
  refuse('PatchOptions', identity, errors)
  return { ...typeOf('PatchOptions', identity), ...common, ...(force === undefined ? {} : { force }) }
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
