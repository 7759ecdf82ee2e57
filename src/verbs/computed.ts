// Kinds that are found out when somebody asks, and never stored.

import { notFound } from '../api/api-error.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import type { ListOptions } from '../api/options/list-options.js'
import { writeValue } from '../schema/write.js'
import type { Call, Engine } from './engine.js'
import type { ListedPage } from './list.js'

type Compute = (engine: Engine) => readonly ApiObject[]

/** By collection; to add one: a function below, and a line here. */
const computed: { readonly [collection: string]: Compute } = {
  componentstatuses: componentStatuses,
}

export const isComputed = ({ collection }: Resource): boolean => Object.hasOwn(computed, collection)

export function getComputed(engine: Engine, { resource, name }: Call): ApiObject {
  const found = computed[resource.collection]?.(engine).find(({ metadata }) => metadata?.name === name)
  if (found === undefined) throw notFound(resource.subject, name)
  return found
}

/** The whole list at once: it has no version, so nobody could ask for the rest of it. */
export function listComputed(engine: Engine, { resource }: Call, { selection }: ListOptions): ListedPage {
  const { labels, fields } = selection
  const objects = (computed[resource.collection]?.(engine) ?? []).filter(
    ({ metadata }) =>
      (labels?.matches(metadata?.labels ?? {}) ?? true) &&
      (fields?.matches((path) => (path === 'metadata.name' ? (metadata?.name ?? '') : '')) ?? true),
  )
  return {
    revision: 0,
    next: undefined,
    continueToken: '',
    remainingItemCount: undefined,
    slices: () => objects.map((object) => Buffer.from(`${writeValue(resource.schema, object)},`)),
    objects: () => objects.map((object) => ({ decode: () => object })),
  }
}

/** The parts of a control plane: what this server is not is not there, and the store is as well as its last write. */
function componentStatuses({ store }: Engine): readonly ApiObject[] {
  return [
    component('controller-manager', 'no controller manager answers this server'),
    component('etcd-0', store.problem),
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
