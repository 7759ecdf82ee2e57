// What a DELETE may say, in its query or in its body. A body, if there is one, is all that counts.

import { badRequest } from '../api-error.js'
import { type FieldError, invalid, notSupported } from '../field-error.js'
import type { Identity } from '../identity.js'
import type * as meta from '../meta.schema.js'
import { refuse, type TypeMeta, typeOf } from './options-object.js'
import { booleanParameter, integerParameter, textParameter } from './parameters.js'
import type { Query } from './query.js'
import { dryRunErrors } from './write-options.js'

export type DeleteOptions = meta.DeleteOptions & TypeMeta

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan'

export interface DeleteRequest {
  readonly query: Query
  /** What the body was decoded to; undefined without a body. */
  readonly body?: DeleteOptions | undefined
  readonly identity: Identity
}

export function parseDeleteOptions(request: DeleteRequest): DeleteOptions {
  const options = request.body === undefined ? fromQuery(request) : fromBody(request.body)
  checkDeleteOptions(options, request.identity)
  return { ...options, ...typeOf('DeleteOptions', request.identity) }
}

/** Throws where options contradict each other or do not exist, wherever they were sent. */
export const checkDeleteOptions = (options: DeleteOptions, identity: Identity): void => refuse('DeleteOptions', identity, errorsOf(options))

/** What becomes of the dependents, if the client said: by the present field, or by the one that came before it. */
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
  const { dryRun: given, ...rest } = body
  const dryRun = given?.filter((value) => value !== '') ?? []
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
