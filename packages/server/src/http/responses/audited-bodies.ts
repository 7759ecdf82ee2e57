// What clients sent and were sent, as the JSON that the audit log shows, whatever the format on the wire.

import type { Resource } from '../api/catalog.js'
import * as meta from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { compactJson, withoutManagedFields } from '../audit/cut-json.js'
import { type AuditRecord, mostKeptBytes } from '../audit/record.js'
import { parseJson } from '../codec/json.js'
import { decodeProtobuf, isEnvelope, listSchemaOf, readEnvelope } from '../codec/protobuf.js'
import { readYaml } from '../codec/yaml/read-yaml.js'
import { YamlError } from '../codec/yaml/yaml-error.js'
import { JsonSyntaxError } from '../schema/json-parse.js'
import type { StructNode } from '../schema/node.js'
import { writeAny, writeValue } from '../schema/write.js'
import type { Exchange } from './exchange.js'

/** An object of a kind that was read from a body. */
export function auditSent(exchange: Exchange, type: Pick<Resource, 'kind' | 'apiVersion' | 'schema'>, object: ApiObject): void {
  const { audited } = exchange
  if (!audited) return
  audited.keepMetadata(object.metadata)
  if (!audited.wantsSent) return
  const { kind, apiVersion, schema } = type
  audited.keepSent(shown(audited, writeValue(schema, { ...object, kind, apiVersion })))
}

/** A patch, as it came. What is YAML is shown as JSON; what is neither is not shown. */
export function auditPatch({ audited }: Exchange, bytes: Uint8Array): void {
  if (!audited?.wantsSent) return
  const text = jsonOfPatch(bytes)
  if (text !== undefined) audited.keepSent(text)
}

function jsonOfPatch(bytes: Uint8Array): string | undefined {
  try {
    parseJson(bytes)
    return compactJson(textOf(bytes))
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown
  }
  try {
    return writeAny(readYaml(textOf(bytes)).value)
  } catch (thrown) {
    if (thrown instanceof YamlError) return undefined
    throw thrown
  }
}

interface SentAnswer {
  readonly contentType: string
  /** Undefined: it was too long to be kept. */
  readonly body: Uint8Array | undefined
  readonly status?: { readonly [key: string]: unknown } | undefined
}

export function auditAnswer(exchange: Exchange, { body, contentType, status }: SentAnswer): void {
  const { audited } = exchange
  if (!audited) return
  if (status !== undefined) audited.status = audited.wantsSent ? status : withoutPatch(status)
  if (!audited.wantsAnswer) return
  if (status !== undefined) audited.keepAnswer(writeAny(status))
  else if (body === undefined) audited.leaveOut()
  else audited.keepAnswer(shown(audited, jsonOf(exchange, contentType, body)))
}

/** The error about a patch that cannot be applied repeats it, with whatever a Secret would have held. */
function withoutPatch(status: NonNullable<SentAnswer['status']>): NonNullable<SentAnswer['status']> {
  const { causes = [] } = (status['details'] ?? {}) as { readonly causes?: readonly { readonly field?: string }[] }
  if (!causes.some(({ field }) => field === 'patch')) return status
  const { details: _details, ...rest } = status
  return { ...rest, message: 'the patch cannot be applied' }
}

/** Only what was indented for people has spaces between its tokens. */
function shown({ ruling }: AuditRecord, json: string): string {
  if (ruling.omitManagedFields) return withoutManagedFields(json)
  return json.startsWith('{\n') ? compactJson(json) : json.trimEnd()
}

function jsonOf(exchange: Exchange, contentType: string, body: Uint8Array): string {
  if (isEnvelope(body)) return jsonOfMessage(exchange, body)
  return contentType.startsWith('application/yaml') ? writeAny(readYaml(textOf(body)).value) : textOf(body)
}

/** By the schema of its kind, be it of an object, a list or a document. */
function jsonOfMessage({ catalog, info }: Exchange, body: Uint8Array): string {
  const { kind, apiVersion, raw } = readEnvelope(body)
  const resource = catalog.find(info.group, info.version, info.resource)
  const part = info.subresource === '' ? undefined : resource?.subresources.get(info.subresource)
  const schema = kind === part?.type.kind ? (part.body?.schema ?? part.shown?.schema) : schemaOf(kind, part?.shown ?? resource)
  return schema === undefined ? 'null' : writeValue(schema, { ...decodeProtobuf(schema, raw), kind, apiVersion })
}

function schemaOf(kind: string, type: Resource | undefined): StructNode | undefined {
  if (kind === type?.kind) return type.schema
  if (type !== undefined && kind === `${type.kind}List`) return listSchemaOf(type.schema)
  return documents[kind]
}

const documents: { readonly [kind: string]: StructNode } = {
  PartialObjectMetadata: meta.partialObjectMetadata,
  PartialObjectMetadataList: meta.partialObjectMetadataList,
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIResourceList: meta.apiResourceList,
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

/** A list on its way, up to what an event may hold. */
export class KeptPieces {
  private readonly pieces: Uint8Array[] = []
  private bytes = 0

  add(piece: Uint8Array): void {
    this.bytes += piece.length
    if (this.bytes <= mostKeptBytes) this.pieces.push(piece)
  }

  /** Undefined: it was too long. */
  join(): Uint8Array | undefined {
    return this.bytes <= mostKeptBytes ? Buffer.concat(this.pieces) : undefined
  }
}
