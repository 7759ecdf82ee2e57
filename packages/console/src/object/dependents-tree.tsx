// The dependents of an object, their dependents and so on, as nested lists.

import type { DynamicObject, PartialObjectMetadata, ServedResource } from '@cluster-apiserver/client/browser.js'
import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { objectRoute } from '../shell/route.js'
import { countText } from '../ui/format.js'
import type { Found, Related } from './related-objects.js'

const maxDepth = 8
const maxShown = 200
/** Maximum number of objects in a tree. */
const maxTree = 2000

interface DependentsTreeProps {
  readonly resource: ServedResource
  readonly object: DynamicObject
  readonly related: Related
}

export const DependentsTree = ({ resource, object, related }: DependentsTreeProps) =>
  useMemo(
    () => branch({ resource, object: object as unknown as PartialObjectMetadata }, related.dependents, { seen: new Set(), depth: 0 }),
    [related],
  )

interface Progress {
  readonly seen: Set<string>
  readonly depth: number
}

/** Shows the dependents of an object once: many objects with many owners each would make a tree of billions. */
function branch(found: Found, dependents: Related['dependents'], { seen, depth }: Progress): VNode | undefined {
  const uid = found.object.metadata?.uid ?? ''
  const children = dependents.get(uid) ?? []
  if (children.length === 0 || seen.has(uid) || depth >= maxDepth || seen.size >= maxTree) return undefined
  seen.add(uid)
  const left = children.length - maxShown
  return (
    <ul class="tree">
      {children.slice(0, maxShown).map((child) => (
        <li key={child.object.metadata?.uid}>
          <FoundLink {...child} />
          {branch(child, dependents, { seen, depth: depth + 1 })}
        </li>
      ))}
      {left > 0 && <li>and {countText(left)} more</li>}
    </ul>
  )
}

export const FoundLink = ({ resource, object }: Found) => (
  <a href={objectRoute(resource, object.metadata?.namespace, object.metadata?.name ?? '')}>
    {resource.kind} {object.metadata?.name}
  </a>
)
