// What a check of a pod security standard is, and the words and visits that checks share.

import type { Identity } from '../../api/identity.js'
import { compareText } from '../../base/text-order.js'
import type { AnyContainer } from '../../resources/core/pod-spec/all-containers.js'
import { visitContainers } from '../../resources/core/pod-spec/all-containers.js'
import type { PodSpec } from '../../resources/core/v1.schema.js'

export interface CheckedPod {
  readonly annotations: { readonly [name: string]: string }
  readonly spec: PodSpec
  readonly identity: Identity
}

/** What is forbidden, in a word and in full; undefined where nothing is. */
export interface Violation {
  readonly reason: string
  /** Empty where the reason says it all. */
  readonly detail: string
}

export type CheckPod = (pod: CheckedPod) => Violation | undefined

export interface Check {
  /** What another check replaces it by. */
  readonly id: string
  readonly level: 'baseline' | 'restricted'
  /** Each from a release on, the newest last. */
  readonly versions: readonly { readonly since: number; readonly check: CheckPod }[]
  /** Checks of the lower level that it makes superfluous. */
  readonly replaces?: string
}

export const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

export const plural = (word: string, { length }: { readonly length: number }): string => (length === 1 ? word : `${word}s`)

/** `container "a"`, or `containers "a", "b"`. */
export const containersNamed = (names: readonly string[]): string => `${plural('container', names)} ${quoted(names)}`

/** The names of the containers of every sort for which something holds. */
export function namesWhere({ spec }: CheckedPod, holds: (container: AnyContainer) => boolean): readonly string[] {
  const names: string[] = []
  visitContainers(spec, '', (container) => {
    if (holds(container)) names.push(container.name ?? '')
  })
  return names
}

/** The pod and some of its containers, as whoever did something. */
export const settersOf = (isPod: boolean, containers: readonly string[]): string =>
  [...(isPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containersNamed(containers)])].join(' and ')

export const sortedUnique = (texts: Iterable<string>): readonly string[] => [...new Set(texts)].sort(compareText)
