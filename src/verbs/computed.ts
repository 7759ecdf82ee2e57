// Kinds that are found out when somebody asks, and never stored.

import { notFound } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { slicesOf } from '../objects/page-slices.js'
import type { Call, Engine } from './engine.js'
import type { ListedPage, WantedList } from './list.js'

type Compute = (engine: Engine) => Promise<readonly ApiObject[]>

/** By collection; to add one: a function below, and a line here. */
const computed: { readonly [collection: string]: Compute } = {
  componentstatuses: componentStatuses,
}

export const isComputed = ({ collection }: Resource): boolean => Object.hasOwn(computed, collection)

export async function getComputed(engine: Engine, { resource, name }: Call): Promise<ApiObject> {
  const found = (await computed[resource.collection]?.(engine))?.find(({ metadata }) => metadata?.name === name)
  if (found === undefined) throw notFound(resource.subject, name)
  return found
}

/** The whole list at once: it has no version, so nobody could ask for the rest of it. */
export async function listComputed(engine: Engine, { resource }: Call, { selection, form }: WantedList): Promise<ListedPage> {
  const { labels, fields } = selection
  const objects = ((await computed[resource.collection]?.(engine)) ?? []).filter(
    ({ metadata }) =>
      (labels?.matches(metadata?.labels ?? {}) ?? true) &&
      (fields?.matches((path) => (path === 'metadata.name' ? (metadata?.name ?? '') : '')) ?? true),
  )
  return {
    revision: 0,
    next: undefined,
    continueToken: '',
    remainingItemCount: undefined,
    items: form === undefined ? nothing : slicesOf(objects, form),
  }
}

const nothing: ListedPage['items'] = { next: () => undefined, measure: () => 0 }

/** How long a component may take to say that it is well. */
const patienceMs = 2000

/** The parts of a control plane: what this server is not is not there, and the store is asked. */
async function componentStatuses({ store }: Engine): Promise<readonly ApiObject[]> {
  return [
    component('controller-manager', 'no controller manager answers this server'),
    component('etcd-0', await store.check(patienceMs)),
    component('scheduler', 'no scheduler answers this server'),
  ]
}

const component = (name: string, problem: string | undefined): ApiObject =>
  ({
    metadata: { name },
    conditions: [
      { type: 'Healthy', status: problem === undefined ? 'True' : 'False', message: problem ?? '{"health":"true","reason":""}' },
    ],
  }) as ApiObject
