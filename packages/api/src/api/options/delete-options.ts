// DeleteOptions from the query or the body of a DELETE. A body replaces the query.

import { badRequest } from '../api-error.js'
import { type FieldError, invalid, notSupported } from '../field-error.js'
import type { Identity } from '../identity.js'
import type * as meta from '../meta.schema.js'
import { type TypeMeta, throwIfInvalid, typeMetaOf } from './options-object.js'
import type { Query } from './query.js'
import { booleanParameter, integerParameter, textParameter } from './query-parameters.js'
import { dryRunErrors } from './write-options.js'

export type DeleteOptions = meta.DeleteOptions & TypeMeta

type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan'

interface DeleteRequest {
  readonly query: Query
  /** Undefined without a body. */
  readonly body?: DeleteOptions | undefined
  readonly identity: Identity
}

export function parseDeleteOptions(request: DeleteRequest): DeleteOptions {
  const options = request.body === undefined ? fromQuery(request) : fromBody(request.body)
  checkDeleteOptions(options, request.identity)
  return { ...options, ...typeMetaOf('DeleteOptions', request.identity) }
}

/** Throws a 422 if a value is not supported or options contradict each other. */
export const checkDeleteOptions = (options: DeleteOptions, identity: Identity): void =>
  throwIfInvalid('DeleteOptions', identity, errorsOf(options))

/** From `propagationPolicy`, or from the deprecated `orphanDependents`. */
export function propagationOf(options: DeleteOptions): PropagationPolicy | undefined {
  if (options.propagationPolicy !== undefined) return options.propagationPolicy as PropagationPolicy
  if (options.orphanDependents === undefined) return undefined
  return options.orphanDependents ? 'Orphan' : 'Background'
}

function fromQuery({ query }: DeleteRequest): DeleteOptions {
  if (query.isEmpty) return {}
  const gracePeriodSeconds = integerParameter(query, 'gracePeriodSeconds')
  const orphanDependents = booleanParameter(query, 'orphanDependents')
  const propagationPolicy = query.first('propagationPolicy')
  const dryRun = query.all('dryRun').filter((value) => value !== '')
  const uid = textParameter(query, 'uid')
  const resourceVersion = textParameter(query, 'resourceVersion')
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  }
}

function fromBody(body: DeleteOptions): DeleteOptions {
  if (body.kind !== undefined && body.kind !== '' && body.kind !== 'DeleteOptions')
    throw badRequest(`the body of a delete request must be of kind DeleteOptions, not ${body.kind}`)
  const { dryRun: values, ...rest } = body
  const dryRun = values?.filter((value) => value !== '') ?? []
  return dryRun.length === 0 ? rest : { ...rest, dryRun }
}

function errorsOf(options: DeleteOptions): readonly FieldError[] {
  const { orphanDependents, propagationPolicy: policy } = options
  const errors: FieldError[] = []
  if (orphanDependents !== undefined && policy !== undefined)
    errors.push(invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'))
  if (policy !== undefined && policy !== 'Foreground' && policy !== 'Background' && policy !== 'Orphan')
    errors.push(notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']))
  return [...errors, ...dryRunErrors(options.dryRun)]
}
