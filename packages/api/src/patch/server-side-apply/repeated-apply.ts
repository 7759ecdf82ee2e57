// Detects a repeated apply: compares the configuration with the recorded field set without building a set.

import type { ListTopology, StructTopology, Topology } from '../../schema/topology.js'
import { type FieldSet, isLeaf } from '../field-set/field-set.js'
import { elementOf, requireDistinct, UnkeyedListError } from '../field-set/list-item-keys.js'
import { fieldElement, self } from '../field-set/path-element.js'
import { isEmptyObject, isRecord, type Members } from '../json-value.js'
import { isUnownedMetadata } from '../managed-fields/ownable-fields.js'
import { fits } from './validate-config.js'

/** True if the configuration is valid and sets exactly these fields. May return false for a repeated apply. */
export function setsSameFields(root: StructTopology, config: Members, set: FieldSet): boolean {
  try {
    return rootSetsSameFields(root, config, set)
  } catch (thrown) {
    if (thrown instanceof UnkeyedListError) return false
    throw thrown
  }
}

function rootSetsSameFields(root: StructTopology, config: Members, set: FieldSet): boolean {
  let remaining = sizeOf(set)
  for (const name in config) {
    if (name === 'apiVersion' || name === 'kind') continue
    const field = root.fields.get(name)
    if (field === undefined && root.rest === undefined) return false
    const element = field?.element ?? fieldElement(name)
    const inner = set[element]
    const node = field?.node ?? (root.rest as Topology)
    if (name === 'metadata' && node.kind === 'struct' && !node.isAtomic) {
      if (!metadataSetsSameFields(node, config[name], inner)) return false
      if (inner !== undefined) remaining--
    } else {
      if (inner === undefined || !isSame(node, config[name], inner, field === undefined)) return false
      remaining--
    }
  }
  return remaining === 0
}

function metadataSetsSameFields(node: StructTopology, metadata: unknown, set: FieldSet | undefined): boolean {
  if (!isRecord(metadata)) return false
  let remaining = set === undefined ? 0 : sizeOf(set)
  for (const name in metadata) {
    const field = node.fields.get(name)
    const value = metadata[name]
    if (field === undefined || value === null) return false
    if (isUnownedMetadata(name)) {
      if (field.node.kind !== 'scalar' || !fits(field.node, value)) return false
    } else {
      const inner = set?.[field.element]
      if (inner === undefined || !isSame(field.node, value, inner, false)) return false
      remaining--
    }
  }
  return remaining === 0
}

function isSame(node: Topology, value: unknown, set: FieldSet, isMember: boolean): boolean {
  if (value === null || value === undefined) return false
  if (node.isAtomic) return isLeaf(set) && fits(node, value)
  if (node.kind === 'list') return Array.isArray(value) && areSameItems(node, value, set, isMember)
  if (!isRecord(value)) return node.kind === 'any' && isLeaf(set)
  if (isEmptyObject(value)) return isLeaf(set)
  if (node.kind === 'struct') return areSameMembers(node, value, set, isMember)
  return areSameKeys(node.kind === 'map' ? node.value : node, value, set, isMember)
}

function areSameMembers(node: StructTopology, value: Members, set: FieldSet, isMember: boolean): boolean {
  if (isMember && set[self] === undefined) return false
  let remaining = sizeOf(set) - (isMember ? 1 : 0)
  for (const name in value) {
    const field = node.fields.get(name)
    const inner = set[field?.element ?? fieldElement(name)]
    const member = field?.node ?? node.rest
    if (inner === undefined || member === undefined || !isSame(member, value[name], inner, field === undefined)) return false
    remaining--
  }
  return remaining === 0
}

function areSameKeys(node: Topology, value: Members, set: FieldSet, isMember: boolean): boolean {
  if (isMember && set[self] === undefined) return false
  let remaining = sizeOf(set) - (isMember ? 1 : 0)
  for (const name in value) {
    const inner = set[fieldElement(name)]
    if (inner === undefined || !isSame(node, value[name], inner, true)) return false
    remaining--
  }
  return remaining === 0
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
