// Protobuf messages of etcd, with the field numbers of its API. Fields are written last to first.

import {
  enter,
  leave,
  type ProtoReader,
  readerOf,
  readRaw,
  readVarint,
  skipField,
  wireTypes,
} from '@cluster-apiserver/api/base/protobuf/protobuf-reader.js'
import {
  collectBytes,
  type ProtoWriter,
  writeInteger,
  writeRaw,
  writeText,
  writeUint,
  writtenBytes,
} from '@cluster-apiserver/api/base/protobuf/protobuf-writer.js'

export const methods = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  leaseGrant: '/etcdserverpb.Lease/LeaseGrant',
  authenticate: '/etcdserverpb.Auth/Authenticate',
  status: '/etcdserverpb.Maintenance/Status',
} as const

export interface RangeRequest {
  readonly key: string
  /** Default: the key alone. */
  readonly end?: string
  readonly limit?: number
  /** Default: the newest state, from the leader. */
  readonly revision?: number
  readonly keysOnly?: boolean
}

/** Views into the response, not copies. */
export interface KeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly modRevision: number
}

export interface RangeResponse {
  readonly revision: number
  readonly items: readonly KeyValue[]
  readonly more: boolean
}

/** A condition on the modification revision; 0: the key is absent. */
export interface Comparison {
  readonly key: string
  readonly modRevision: number
}

export type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: readonly Uint8Array[]; readonly lease?: bigint }
  | { readonly kind: 'delete'; readonly key: string }
  | { readonly kind: 'range'; readonly request: RangeRequest }
  | { readonly kind: 'txn'; readonly txn: Txn }

export interface Txn {
  readonly compare: readonly Comparison[]
  readonly success: readonly Operation[]
  readonly failure: readonly Operation[]
}

export interface TxnResponse {
  readonly revision: number
  readonly succeeded: boolean
  readonly responses: readonly { readonly range?: RangeResponse; readonly txn?: TxnResponse }[]
}

export interface WatchEvent extends KeyValue {
  readonly isDelete: boolean
}

export interface WatchResponse {
  readonly revision: number
  readonly isCreated: boolean
  readonly isCanceled: boolean
  /** Not 0: history up to this revision is compacted. */
  readonly compactRevision: number
  readonly cancelReason: string
  /** More events, perhaps of the same revision, follow in the next response. */
  readonly isFragment: boolean
  readonly events: readonly WatchEvent[]
}

export interface MemberStatus {
  readonly clusterId: string
  readonly version: string
  readonly hasLeader: boolean
  readonly isLeader: boolean
  readonly dbBytes: number
}

export function encodeRange(request: RangeRequest): Buffer {
  return encode((writer) => writeRange(writer, request))
}

export function decodeRange(bytes: Buffer): RangeResponse {
  return readRange(readerOf(bytes))
}

/** `expectedBytes`: about how long the message will be. */
export function encodeTxn(txn: Txn, expectedBytes: number): Buffer {
  return encode((writer) => writeTxn(writer, txn), expectedBytes)
}

export function decodeTxn(bytes: Buffer): TxnResponse {
  return readTxn(readerOf(bytes))
}

export function encodeCompact(revision: number): Buffer {
  return encode((writer) => writeNumber(writer, 1, revision))
}

export function encodeLeaseGrant(seconds: number): Buffer {
  return encode((writer) => writeNumber(writer, 1, seconds))
}

export function decodeLeaseGrant(bytes: Buffer): bigint {
  const reader = readerOf(bytes)
  let id = 0n
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === varintTag(2)) id = BigInt(readVarint(reader))
    else skipField(reader, tag & 7)
  }
  return id
}

export function encodeAuthenticate(name: string, password: string): Buffer {
  return encode((writer) => {
    writeString(writer, 2, password)
    writeString(writer, 1, name)
  })
}

export function decodeAuthenticate(bytes: Buffer): string {
  const reader = readerOf(bytes)
  let token = ''
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(2)) token = readBytes(reader).toString()
    else skipField(reader, tag & 7)
  }
  return token
}

export function decodeStatus(bytes: Buffer): MemberStatus {
  const reader = readerOf(bytes)
  let header = { clusterId: '', memberId: 0n }
  let version = ''
  let leader = 0n
  let dbBytes = 0
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(1)) header = nested(reader, readIds)
    else if (tag === delimitedTag(2)) version = readBytes(reader).toString()
    else if (tag === varintTag(3)) dbBytes = Number(readVarint(reader))
    else if (tag === varintTag(4)) leader = BigInt(readVarint(reader))
    else skipField(reader, tag & 7)
  }
  return { clusterId: header.clusterId, version, hasLeader: leader !== 0n, isLeader: leader === header.memberId, dbBytes }
}

interface WatchRequest {
  readonly key: string
  readonly end: string
  readonly startRevision: number
}

export function encodeWatch({ key, end, startRevision }: WatchRequest): Buffer {
  return encode((writer) => {
    // Field 8: fragment large responses. Field 4: send progress notifications.
    writeNumber(writer, 8, 1)
    writeNumber(writer, 4, 1)
    writeNumber(writer, 3, startRevision)
    writeString(writer, 2, end)
    writeString(writer, 1, key)
    wrap(writer, 1, 0)
  })
}

/** Skips the events of a response that has nothing after `knownRevision`. */
export function decodeWatch(bytes: Buffer, knownRevision: number): WatchResponse {
  const reader = readerOf(bytes)
  const events: WatchEvent[] = []
  const response = { revision: 0, isCreated: false, isCanceled: false, compactRevision: 0, cancelReason: '', isFragment: false, events }
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    // The header comes first, and no event is newer than its revision.
    if (tag === delimitedTag(11) && (response.revision === 0 || response.revision > knownRevision)) events.push(nested(reader, readEvent))
    else if (tag === delimitedTag(1)) response.revision = nested(reader, readRevision)
    else if (tag === varintTag(3)) response.isCreated = readNumber(reader) !== 0
    else if (tag === varintTag(4)) response.isCanceled = readNumber(reader) !== 0
    else if (tag === varintTag(5)) response.compactRevision = readNumber(reader)
    else if (tag === delimitedTag(6)) response.cancelReason = readBytes(reader).toString()
    else if (tag === varintTag(7)) response.isFragment = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return response
}

function writeRange(writer: ProtoWriter, { key, end, limit, revision, keysOnly }: RangeRequest): void {
  if (keysOnly) writeNumber(writer, 8, 1)
  if (revision !== undefined) writeNumber(writer, 4, revision)
  if (limit !== undefined) writeNumber(writer, 3, limit)
  if (end !== undefined) writeString(writer, 2, end)
  writeString(writer, 1, key)
}

function readRange(reader: ProtoReader): RangeResponse {
  const items: KeyValue[] = []
  let revision = 0
  let more = false
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(2)) items.push(nested(reader, readKeyValue))
    else if (tag === delimitedTag(1)) revision = nested(reader, readRevision)
    else if (tag === varintTag(3)) more = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return { revision, items, more }
}

function writeTxn(writer: ProtoWriter, { compare, success, failure }: Txn): void {
  for (const operation of failure.toReversed()) writeOperation(writer, 3, operation)
  for (const operation of success.toReversed()) writeOperation(writer, 2, operation)
  for (const { key, modRevision } of compare.toReversed()) {
    const bytesBefore = writtenBytes(writer)
    writeNumber(writer, 6, modRevision)
    writeString(writer, 3, key)
    // Compares the modification revision for equality, which is the default.
    writeNumber(writer, 2, 2)
    wrap(writer, 1, bytesBefore)
  }
}

const operationFields = { range: 1, put: 2, delete: 3, txn: 4 } as const

function writeOperation(writer: ProtoWriter, field: number, operation: Operation): void {
  const bytesBefore = writtenBytes(writer)
  if (operation.kind === 'put') {
    if (operation.lease !== undefined) writeNumber(writer, 3, operation.lease)
    const { value } = operation
    const valueBytesBefore = writtenBytes(writer)
    for (let i = value.length - 1; i >= 0; i--) writeRaw(writer, value[i] as Uint8Array)
    wrap(writer, 2, valueBytesBefore)
    writeString(writer, 1, operation.key)
  } else if (operation.kind === 'delete') writeString(writer, 1, operation.key)
  else if (operation.kind === 'range') writeRange(writer, operation.request)
  else writeTxn(writer, operation.txn)
  wrap(writer, operationFields[operation.kind], bytesBefore)
  wrap(writer, field, bytesBefore)
}

function readTxn(reader: ProtoReader): TxnResponse {
  const responses: { range?: RangeResponse; txn?: TxnResponse }[] = []
  let revision = 0
  let succeeded = false
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(3)) responses.push(nested(reader, readResponse))
    else if (tag === delimitedTag(1)) revision = nested(reader, readRevision)
    else if (tag === varintTag(2)) succeeded = readNumber(reader) !== 0
    else skipField(reader, tag & 7)
  }
  return { revision, succeeded, responses }
}

function readResponse(reader: ProtoReader): { range?: RangeResponse; txn?: TxnResponse } {
  const response: { range?: RangeResponse; txn?: TxnResponse } = {}
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(operationFields.range)) response.range = nested(reader, readRange)
    else if (tag === delimitedTag(operationFields.txn)) response.txn = nested(reader, readTxn)
    else skipField(reader, tag & 7)
  }
  return response
}

function readEvent(reader: ProtoReader): WatchEvent {
  let isDelete = false
  let item: KeyValue | undefined
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === varintTag(1)) isDelete = readNumber(reader) !== 0
    else if (tag === delimitedTag(2)) item = nested(reader, readKeyValue)
    else skipField(reader, tag & 7)
  }
  return { isDelete, ...(item ?? { key: emptyBuffer, value: emptyBuffer, modRevision: 0 }) }
}

const emptyBuffer = Buffer.alloc(0)

function readKeyValue(reader: ProtoReader): KeyValue {
  let key: Buffer = emptyBuffer
  let value: Buffer = emptyBuffer
  let modRevision = 0
  for (let tag = nextTag(reader); tag !== 0; tag = nextTag(reader)) {
    if (tag === delimitedTag(1)) key = readBytes(reader)
    else if (tag === varintTag(3)) modRevision = readNumber(reader)
    else if (tag === delimitedTag(5)) value = readBytes(reader)
    else skipField(reader, tag & 7)
  }
  return { key, value, modRevision }
}

function readRevision(header: ProtoReader): number {
  let revision = 0
  for (let tag = nextTag(header); tag !== 0; tag = nextTag(header)) {
    if (tag === varintTag(3)) revision = readNumber(header)
    else skipField(header, tag & 7)
  }
  return revision
}

function readIds(header: ProtoReader): { clusterId: string; memberId: bigint } {
  let clusterId = ''
  let memberId = 0n
  for (let tag = nextTag(header); tag !== 0; tag = nextTag(header)) {
    if (tag === varintTag(1)) clusterId = BigInt(readVarint(header)).toString(16)
    else if (tag === varintTag(2)) memberId = BigInt(readVarint(header))
    else skipField(header, tag & 7)
  }
  return { clusterId, memberId }
}

const varintTag = (field: number): number => field * 8 + wireTypes.varint
const delimitedTag = (field: number): number => field * 8 + wireTypes.delimited

function encode(write: (writer: ProtoWriter) => void, expectedBytes?: number): Buffer {
  const { buffer, byteOffset, length } = collectBytes(write, expectedBytes)
  return Buffer.from(buffer, byteOffset, length)
}

function writeNumber(writer: ProtoWriter, field: number, value: number | bigint): void {
  writeInteger(writer, value)
  writeUint(writer, varintTag(field))
}

function writeString(writer: ProtoWriter, field: number, text: string): void {
  const bytesBefore = writtenBytes(writer)
  writeText(writer, text)
  wrap(writer, field, bytesBefore)
}

/** Adds tag and length to the bytes written after the first `bytesBefore`. */
function wrap(writer: ProtoWriter, field: number, bytesBefore: number): void {
  writeUint(writer, writtenBytes(writer) - bytesBefore)
  writeUint(writer, delimitedTag(field))
}

const nextTag = (reader: ProtoReader): number => (reader.at < reader.end ? readNumber(reader) : 0)

const readNumber = (reader: ProtoReader): number => Number(readVarint(reader))

/** A view, not a copy. */
const readBytes = (reader: ProtoReader): Buffer => readRaw(reader) as Buffer

function nested<T>(reader: ProtoReader, read: (reader: ProtoReader) => T): T {
  const outerEnd = enter(reader)
  const value = read(reader)
  leave(reader, outerEnd)
  return value
}
