// Requests to virtual resources, which are not stored: actions, reviews, connections and computed kinds.

import { ApiError, badRequest, invalid, notFound } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ConnectionName } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { booleanParameter, integerParameter } from '@cluster-apiserver/api/api/options/query-parameters.js'
import { AdmissionRequest } from '../../admission/admission-plugin.js'
import { encodeItems } from '../../objects/list/list-page.js'
import { inNamespace } from '../create.js'
import { awaitReadIndex, type Engine } from '../engine.js'
import type { ListedPage, ListRequest } from '../list.js'
import { trackActionBody, trackCreate } from '../managed-fields.js'
import type { Action, Compute, ConnectRequest, Location, Review } from './virtual-resource-types.js'
import { computed, connections, reviews } from './virtual-resources.js'

interface ActionInput {
  readonly action: Action
  readonly body: ApiObject
  readonly catalog: Catalog
}

/** POST to an action: the body passes admission as a new object of the subresource. */
export async function performAction(engine: Engine, call: Call, { action, body, catalog }: ActionInput): Promise<ApiObject | undefined> {
  await awaitReadIndex(engine, call)
  const placed = trackActionBody(call, inNamespace(call, body))
  const sent = new AdmissionRequest(call, 'CREATE', { object: placed, old: undefined })
  const admitted = sent.withObject((await engine.admission.mutate(sent)) ?? placed)
  call.throwIfAborted()
  return action(engine, call, { body: admitted.object ?? placed, catalog, validate: () => engine.admission.validate(admitted) })
}

/** POST to a review: returns the submitted object with its `status` filled in. */
export async function performReview(engine: Engine, call: Call, object: ApiObject): Promise<ApiObject> {
  const { definition, invalidSubject, kind } = call.resource
  const tracked = trackCreate(call, inNamespace(call, object))
  const admission = new AdmissionRequest(call, 'CREATE', { object: tracked, old: undefined })
  const admitted = (await engine.admission.mutate(admission)) ?? tracked
  const prepared = definition.prepareCreate?.(admitted, call) ?? admitted
  const errors = definition.validate?.(prepared, call) ?? []
  // kube-apiserver names only the group in these errors.
  if (errors.length > 0) throw invalid({ ...invalidSubject, kind: '' }, '', errors)
  await engine.admission.validate(admission.withObject(prepared))
  const review = (reviews as { readonly [name: string]: Review })[definition.review ?? '']
  if (review === undefined)
    throw new ApiError({ code: 501, reason: 'NotImplemented', message: `${kind} is not answered by this server`, details: {} })
  return review(engine, call, prepared)
}

interface ConnectInput extends ConnectRequest {
  readonly to: ConnectionName
}

/** The upstream of a connection; undefined if there is nothing to connect to. */
export async function connect(engine: Engine, call: Call, { to, ...request }: ConnectInput): Promise<Location | undefined> {
  if (to !== 'log' && request.query.first('dryRun') !== undefined) throw badRequest('dryRun is not supported')
  await awaitReadIndex(engine, call)
  if (to !== 'log') await admit(engine, call, request)
  return connections[to]({ engine, call, ...request })
}

/** The query parameters are the object that admission sees. Reading a log does not pass admission. */
async function admit(engine: Engine, call: Call, request: ConnectRequest): Promise<void> {
  const sent = new AdmissionRequest(call, 'CONNECT', { object: optionsOf(call, request), old: undefined })
  const admitted = sent.withObject((await engine.admission.mutate(sent)) ?? sent.object)
  await engine.admission.validate(admitted)
  call.throwIfAborted()
}

/** The query as an object of the subresource's kind; for a proxy with the requested path. */
function optionsOf({ subresource }: Call, { query, subpath }: ConnectRequest): ApiObject {
  const parameters = Object.entries(subresource?.query?.fields ?? {}).flatMap(
    ([name, { node }]): readonly (readonly [string, unknown])[] => {
      if (subresource?.name === 'proxy' && name === 'path') return subpath === '' ? [] : [[name, subpath]]
      if (query.first(name) === undefined) return []
      if (node.type === 'list') return [[name, query.all(name)]]
      if (node.type === 'boolean') return [[name, booleanParameter(query, name)]]
      return [[name, node.type === 'integer' ? integerParameter(query, name) : query.first(name)]]
    },
  )
  return { kind: subresource?.type.kind, apiVersion: subresource?.type.apiVersion, ...Object.fromEntries(parameters) } as ApiObject
}

export const computeOf = ({ definition }: Resource): Compute | undefined =>
  definition.computed === undefined ? undefined : (computed as { readonly [name: string]: Compute })[definition.computed]

export async function getComputed(engine: Engine, call: Call, compute: Compute): Promise<ApiObject> {
  const { resource, name } = call
  const found = (await compute(engine, call)).find((object) => object.metadata?.name === name && isInNamespace(object, call))
  if (found === undefined) throw notFound(resource.subject, name)
  return found
}

const isInNamespace = ({ metadata }: Pick<ApiObject, 'metadata'>, { namespace }: Call): boolean =>
  namespace === '' || metadata?.namespace === namespace

function fieldOf({ metadata }: Pick<ApiObject, 'metadata'>, path: string): string {
  if (path === 'metadata.name') return metadata?.name ?? ''
  return path === 'metadata.namespace' ? (metadata?.namespace ?? '') : ''
}

interface ComputedList extends ListRequest {
  readonly compute: Compute
}

/** One page: a computed list has no resourceVersion to continue from. */
export async function listComputed(engine: Engine, call: Call, request: ComputedList): Promise<ListedPage> {
  const { compute, encoding } = request
  const { labels, fields } = request.selection
  const objects = (await compute(engine, call)).filter(
    (object) =>
      isInNamespace(object, call) &&
      (labels?.matches(object.metadata?.labels ?? {}) ?? true) &&
      (fields?.matches((path) => fieldOf(object, path)) ?? true),
  )
  return {
    revision: 0,
    next: undefined,
    continueToken: '',
    remainingItemCount: undefined,
    items: encodeItems(objects, encoding),
  }
}
