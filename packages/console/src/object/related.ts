// Owners and dependents of an object as a tree, by owner references. Reads only metadata, of the kinds that the user may list.

import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { isClientError, type PartialObjectMetadata, type ServedResource } from '@cluster-apiserver/client/browser.js'
import { button, element, replaceChildren } from '../dom/element.js'
import { objectRoute } from '../shell/route.js'
import { countText } from '../ui/format.js'
import type { ObjectContext, ObjectTab } from './object-context.js'

const concurrency = 4
/** Objects of one kind that are searched for dependents. */
const maxObjects = 5000
const maxDepth = 8
const maxShown = 200
/** Objects of a tree in all. */
const maxTree = 2000

interface Found {
  readonly resource: ServedResource
  readonly object: PartialObjectMetadata
}

export const relatedTab: ObjectTab = {
  id: 'related',
  title: 'Related',
  show: (host, context) => {
    void showTree(host, context)
    return undefined
  },
}

export interface Related {
  readonly byUid: ReadonlyMap<string, Found>
  /** By the uid of their owner. */
  readonly dependents: ReadonlyMap<string, readonly Found[]>
  /** Kinds that were not searched completely. */
  readonly partial: readonly string[]
}

interface Search extends Pick<ObjectContext, 'session' | 'namespace' | 'signal'> {
  readonly onProgress?: (searched: number, kinds: number) => void
}

export async function searchRelated({ session, namespace, signal, onProgress }: Search): Promise<Related> {
  const kinds = session.listable.filter(({ namespaced }) => namespace === undefined || namespaced)
  const dependents = new Map<string, Found[]>()
  const byUid = new Map<string, Found>()
  const partial: string[] = []
  let searched = 0
  const add = (found: Found): void => {
    const { uid = '', ownerReferences = [] } = found.object.metadata ?? {}
    byUid.set(uid, found)
    for (const { uid: owner = '' } of ownerReferences) {
      const siblings = dependents.get(owner)
      if (siblings === undefined) dependents.set(owner, [found])
      else siblings.push(found)
    }
  }
  await inParallel(kinds, concurrency, async (resource) => {
    if (signal.aborted) return
    try {
      let count = 0
      for await (const { items } of session.client.collection(resource, namespace ?? '').metadata.pages({ limit: 500, signal })) {
        for (const object of items) add({ resource, object })
        count += items.length
        if (count >= maxObjects) {
          partial.push(resource.resource)
          break
        }
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (!isClientError(thrown)) throw thrown
      partial.push(resource.resource)
    }
    onProgress?.(++searched, kinds.length)
  })
  return { byUid, dependents, partial }
}

export function dependentsTree(
  { object, resource }: Pick<ObjectContext, 'object' | 'resource'>,
  { dependents }: Related,
): HTMLElement | undefined {
  return branch({ resource, object: object as unknown as PartialObjectMetadata }, dependents, new Set(), 0)
}

async function showTree(host: HTMLElement, context: ObjectContext): Promise<void> {
  const status = element('p', { class: 'hint', role: 'status' })
  const tree = element('div')
  const again = button('Search again', () => void showTree(host, context))
  replaceChildren(host, element('div', { class: 'tools' }, again, status), tree)
  const { session, namespace, signal, object } = context
  const onProgress = (searched: number, kinds: number): void => {
    status.textContent = `searched ${searched} of ${kinds} kinds`
  }
  const related = await searchRelated({ session, namespace, signal, onProgress })
  if (signal.aborted) return
  if (related.partial.length > 0) status.textContent = `not complete: ${related.partial.join(', ')}`
  const owners = (object.metadata?.ownerReferences ?? []).map(({ uid = '', kind = '', name = '' }) => {
    const found = related.byUid.get(uid)
    return element('li', {}, found === undefined ? `${kind} ${name} (not found)` : link(found))
  })
  replaceChildren(
    tree,
    element(
      'section',
      {},
      element('h2', {}, 'Owners'),
      owners.length === 0 ? element('p', { class: 'empty' }, 'No owner.') : element('ul', { class: 'tree' }, ...owners),
    ),
    element(
      'section',
      {},
      element('h2', {}, 'Dependents'),
      dependentsTree(context, related) ?? element('p', { class: 'empty' }, 'No dependents.'),
    ),
  )
}

/** Shows the dependents of an object once: many objects with many owners each would make a tree of billions. */
function branch(
  found: Found,
  dependents: ReadonlyMap<string, readonly Found[]>,
  seen: Set<string>,
  depth: number,
): HTMLElement | undefined {
  const uid = found.object.metadata?.uid ?? ''
  const children = dependents.get(uid) ?? []
  if (children.length === 0 || seen.has(uid) || depth >= maxDepth || seen.size >= maxTree) return undefined
  seen.add(uid)
  const left = children.length - maxShown
  return element(
    'ul',
    { class: 'tree' },
    ...children.slice(0, maxShown).map((child) => element('li', {}, link(child), branch(child, dependents, seen, depth + 1))),
    left > 0 && element('li', {}, `and ${countText(left)} more`),
  )
}

const link = ({ resource, object }: Found): HTMLElement =>
  element(
    'a',
    { href: objectRoute(resource, object.metadata?.namespace, object.metadata?.name ?? '') },
    `${resource.kind} ${object.metadata?.name ?? ''}`,
  )
