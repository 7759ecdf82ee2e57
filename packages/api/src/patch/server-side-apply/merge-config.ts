// Merges an applied configuration into the live object. Unchanged values are shared, so that the comparison skips them.

import type { ListTopology, StructTopology, Topology } from '../../schema/topology.js'
import { indexItems, isSameOrder } from '../field-set/list-item-keys.js'
import { equalsSerialized } from '../field-set/serialized-value.js'
import { isEmptyObject, isEqual, isRecord, type Members, own, setOwn } from '../json-value.js'

/** Ignores apiVersion and kind, which the live object may lack. */
export const mergeConfig = (root: StructTopology, live: Members, config: Members): Members => mergeMembers(root, live, config, isTypeMeta)

const isTypeMeta = (name: string): boolean => name === 'apiVersion' || name === 'kind'

function merge(node: Topology, live: unknown, config: unknown): unknown {
  if (live === undefined || live === config) return config
  if (node.isAtomic) return equalsSerialized(node, live, config) ? live : config
  // Null unsets scalars and empty values, not maps and lists with members.
  if (config === null) return typeof live === 'object' && live !== null && !isEmptyObject(live) ? live : config
  if (node.kind === 'list') return Array.isArray(live) && Array.isArray(config) ? mergeItems(node, live, config) : config
  if (!isRecord(live) || !isRecord(config)) return isEqual(live, config) ? live : config
  return mergeMembers(node, live, config)
}

type MemberTopology = Exclude<Topology, ListTopology>

const nodeOf = (parent: MemberTopology, name: string): Topology | undefined =>
  parent.kind === 'map' ? parent.value : parent.kind === 'struct' ? (parent.fields.get(name)?.node ?? parent.rest) : parent

function mergeMembers(parent: MemberTopology, live: Members, config: Members, isIgnored?: (name: string) => boolean): Members {
  let out: { [name: string]: unknown } | undefined
  for (const name in config) {
    if (isIgnored?.(name)) continue
    const before = own(live, name)
    const configured = config[name]
    const node = before === undefined || before === configured ? undefined : nodeOf(parent, name)
    const after = node === undefined ? configured : merge(node, before, configured)
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

/** Merges the orders: live `[a, b, c]` and configuration `[x, c, a]` give `[b, x, c, a]`. */
function interleave(node: ListTopology, live: readonly unknown[], config: readonly unknown[]): readonly unknown[] {
  const liveByElement = indexItems(node, live)
  const liveOrder = [...liveByElement.keys()]
  const configByElement = indexItems(node, config)
  const configOrder = [...configByElement.keys()]
  const shared = configOrder.filter((element) => liveByElement.has(element))
  const out: unknown[] = []
  let liveIndex = 0
  let configIndex = 0
  let nextShared = 0
  while (liveIndex < liveOrder.length || configIndex < configOrder.length) {
    const liveElement = liveOrder[liveIndex]
    const element = configOrder[configIndex]
    const nextSharedElement = shared[nextShared]
    if (liveElement !== undefined && !configByElement.has(liveElement)) {
      out.push(liveByElement.get(liveElement))
      liveIndex++
    } else if (
      element === undefined ||
      (liveElement !== undefined && liveElement !== element && nextSharedElement !== undefined && nextSharedElement !== liveElement)
    ) {
      // A shared item is placed at its position in the configuration.
      liveIndex++
    } else {
      out.push(merge(node.item, liveByElement.get(element), configByElement.get(element)))
      if (nextSharedElement === element) nextShared++
      if (liveElement === element) liveIndex++
      configIndex++
    }
  }
  return out
}
