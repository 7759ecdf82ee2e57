// The structural merge of apply: the live object with everything that the configuration spells out, part by part. What stays as it
// is stays the same value, so that comparing the outcome with the live object looks only at what changed.

import type { ListTopology, StructTopology, Topology } from '../schema/topology.js'
import { indexItems, isSameOrder } from './list-items.js'
import type { Members } from './members.js'
import { isEqual, isRecord, own, setOwn } from './plain.js'
import { isSpelledOut } from './written-value.js'

/** The live object may come without its type, which is that of the configuration, and is left as it is. */
export const mergeConfig = (root: StructTopology, live: Members, config: Members): Members => mergeMembers(root, live, config, isType)

const isType = (name: string): boolean => name === 'apiVersion' || name === 'kind'

function merge(node: Topology, live: unknown, config: unknown): unknown {
  if (live === undefined || live === config) return config
  if (node.isOne) return isSpelledOut(node, live, config) ? live : config
  // Nothing over something merges nothing into it: only what is one is unset by null.
  if (config === null) return isRecord(live) || Array.isArray(live) ? live : config
  if (node.kind === 'list') return Array.isArray(live) && Array.isArray(config) ? mergeItems(node, live, config) : config
  if (!isRecord(live) || !isRecord(config)) return isEqual(live, config) ? live : config
  return mergeMembers(node, live, config)
}

type Topologies = Exclude<Topology, ListTopology>

const nodeOf = (parent: Topologies, name: string): Topology | undefined =>
  parent.kind === 'map' ? parent.value : parent.kind === 'struct' ? (parent.fields.get(name)?.node ?? parent.rest) : parent

function mergeMembers(parent: Topologies, live: Members, config: Members, isLeft?: (name: string) => boolean): Members {
  let out: { [name: string]: unknown } | undefined
  for (const name in config) {
    if (isLeft?.(name)) continue
    const before = own(live, name)
    const wanted = config[name]
    const node = before === undefined || before === wanted ? undefined : nodeOf(parent, name)
    const after = node === undefined ? wanted : merge(node, before, wanted)
    if (after === before) continue
    out ??= { ...live }
    setOwn(out, name, after)
  }
  return out ?? live
}

function mergeItems(node: ListTopology, live: readonly unknown[], config: readonly unknown[]): readonly unknown[] {
  if (!isSameOrder(node, live, config)) return interleave(node, live, config)
  let out: unknown[] | undefined
  for (let i = 0; i < live.length; i++) {
    const item = merge(node.item, live[i], config[i])
    if (item === live[i]) continue
    out ??= [...live]
    out[i] = item
  }
  return out ?? live
}

/**
 * Items that both have stand in the configuration's order; items that only the live list has come as soon as it is their turn.
 * For instance live `[a, b, c]` and configuration `[x, c, a]` give `[b, x, c, a]`.
 */
function interleave(node: ListTopology, live: readonly unknown[], config: readonly unknown[]): readonly unknown[] {
  const index = indexItems(node, live)
  const before = [...index.keys()]
  const wanted = indexItems(node, config)
  const order = [...wanted.keys()]
  const shared = order.filter((element) => index.has(element))
  const out: unknown[] = []
  let l = 0
  let r = 0
  let nextShared = 0
  while (l < before.length || r < order.length) {
    const mine = before[l]
    const element = order[r]
    const due = shared[nextShared]
    if (mine !== undefined && !wanted.has(mine)) {
      out.push(index.get(mine))
      l++
    } else if (element === undefined || (mine !== undefined && mine !== element && due !== undefined && due !== mine)) {
      // A shared item that is not due makes way for those behind it.
      l++
    } else {
      out.push(merge(node.item, index.get(element), wanted.get(element)))
      if (due === element) nextShared++
      if (mine === element) l++
      r++
    }
  }
  return out
}
