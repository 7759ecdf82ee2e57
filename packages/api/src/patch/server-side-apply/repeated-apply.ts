// Whether a configuration sets just the fields that it set the last time, as whoever applies again and again does: found by walking over it
// beside the recorded set, without making a set of it.

import type { ListTopology, StructTopology, Topology } from '../schema/topology.js'
import { fits } from './check-config.js'
import { type FieldSet, isLeaf } from './field-set.js'
import { elementOf, requireDistinct, UnkeyedListError } from './list-items.js'
import { isBare, type Members } from './members.js'
import { isUnownedMetadata } from './ownable.js'
import { fieldElement, self } from './path-element.js'
import { isRecord } from './plain.js'

/**
 * Whether a configuration, whose version and kind were looked at, fits its schema and sets what the set holds, and of all else only what has no owner.
 * Where that is not easily seen, as with nulls, the answer is no.
 */
export function setsJust(root: StructTopology, config: Members, set: FieldSet): boolean {
  try {
    return rootSetsJust(root, config, set)
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return false
    throw thrown
  }
}

function rootSetsJust(root: StructTopology, config: Members, set: FieldSet): boolean {
  let left = sizeOf(set)
  for (const name in config) {
    if (name === 'apiVersion' || name === 'kind') continue
    const field = root.fields.get(name)
    if (field === undefined && root.rest === undefined) return false
    const element = field?.element ?? fieldElement(name)
    const inner = set[element]
    const node = field?.node ?? (root.rest as Topology)
    if (name === 'metadata' && node.kind === 'struct' && !node.isOne) {
      if (!metadataSetJust(node, config[name], inner)) return false
      if (inner !== undefined) left--
    } else {
      if (inner === undefined || !isSame(node, config[name], inner, field === undefined)) return false
      left--
    }
  }
  return left === 0
}

function metadataSetJust(node: StructTopology, metadata: unknown, set: FieldSet | undefined): boolean {
  if (!isRecord(metadata)) return false
  let left = set === undefined ? 0 : sizeOf(set)
  for (const name in metadata) {
    const field = node.fields.get(name)
    const value = metadata[name]
    if (field === undefined || value === null) return false
    if (isUnownedMetadata(name)) {
      if (field.node.kind !== 'scalar' || !fits(field.node, value)) return false
    } else {
      const inner = set?.[field.element]
      if (inner === undefined || !isSame(field.node, value, inner, false)) return false
      left--
    }
  }
  return left === 0
}

/** Whether a value has just the parts of a node. `isMember`: it is in the set itself, whatever lies below it. */
function isSame(node: Topology, value: unknown, set: FieldSet, isMember: boolean): boolean {
  if (value === null || value === undefined) return false
  if (node.isOne) return isLeaf(set) && fits(node, value)
  if (node.kind === 'list') return Array.isArray(value) && areSameItems(node, value, set, isMember)
  if (!isRecord(value)) return node.kind === 'any' && isLeaf(set)
  if (isBare(value)) return isLeaf(set)
  if (node.kind === 'struct') return areSameMembers(node, value, set, isMember)
  return areSameKeys(node.kind === 'map' ? node.value : node, value, set, isMember)
}

function areSameMembers(node: StructTopology, value: Members, set: FieldSet, isMember: boolean): boolean {
  if (isMember && set[self] === undefined) return false
  let left = sizeOf(set) - (isMember ? 1 : 0)
  for (const name in value) {
    const field = node.fields.get(name)
    const inner = set[field?.element ?? fieldElement(name)]
    const member = field?.node ?? node.rest
    if (inner === undefined || member === undefined || !isSame(member, value[name], inner, field === undefined)) return false
    left--
  }
  return left === 0
}

function areSameKeys(node: Topology, value: Members, set: FieldSet, isMember: boolean): boolean {
  if (isMember && set[self] === undefined) return false
  let left = sizeOf(set) - (isMember ? 1 : 0)
  for (const name in value) {
    const inner = set[fieldElement(name)]
    if (inner === undefined || !isSame(node, value[name], inner, true)) return false
    left--
  }
  return left === 0
}

function areSameItems(node: ListTopology, items: readonly unknown[], set: FieldSet, isMember: boolean): boolean {
  if (items.length === 0 || (isMember && set[self] === undefined)) return false
  requireDistinct(node, items)
  for (const item of items) {
    const inner = set[elementOf(node, item)]
    if (inner === undefined || !isSame(node.item, item, inner, true)) return false
  }
  return sizeOf(set) - (isMember ? 1 : 0) === items.length
}

function sizeOf(set: FieldSet): number {
  let size = 0
  for (const _ in set) size++
  return size
}
