// Kinds that are found out when somebody asks, and never stored.

import { notFound } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { slicesOf } from '../objects/page-slices.js'
import type { Engine } from './engine.js'
import type { ListedPage, WantedList } from './list.js'
import type { Compute } from './special/signatures.js'
import { computed } from './special/special.js'

/** What finds out the objects of a kind that is not stored; undefined for one that is. */
export const computeOf = ({ definition }: Resource): Compute | undefined =>
  definition.computed === undefined ? undefined : (computed as { readonly [name: string]: Compute })[definition.computed]

export async function getComputed(engine: Engine, { resource, name }: Call, compute: Compute): Promise<ApiObject> {
  const found = (await compute(engine)).find(({ metadata }) => metadata?.name === name)
  if (found === undefined) throw notFound(resource.subject, name)
  return found
}

interface ComputedList extends WantedList {
  readonly compute: Compute
}

/** The whole list at once: it has no version, so nobody could ask for the rest of it. */
export async function listComputed(engine: Engine, wanted: ComputedList): Promise<ListedPage> {
  const { compute, form } = wanted
  const { labels, fields } = wanted.selection
  const objects = (await compute(engine)).filter(
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
