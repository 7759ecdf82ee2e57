// Request and response bodies for the audit log, converted to JSON from any format.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { decodeProtobuf, isEnvelope, listSchemaOf, readEnvelope } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { YamlError } from '@cluster-apiserver/api/codec/yaml/yaml-error.js'
import { JsonSyntaxError } from '@cluster-apiserver/api/schema/json/parse-json.js'
import { writeAny, writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import { type AuditRecord, maxBodyChars } from '../../audit/audit-record.js'
import { compactJson, withoutManagedFields } from '../../audit/compact-json.js'
import type { Exchange } from '../pipeline/exchange.js'

export function auditRequestBody(exchange: Exchange, type: Pick<Resource, 'kind' | 'apiVersion' | 'schema'>, object: ApiObject): void {
  const { audited } = exchange
  if (!audited) return
  audited.setMetadata(object.metadata)
  if (!audited.includesRequestBody) return
  const { kind, apiVersion, schema } = type
  audited.setRequestBody(compacted(audited, writeValue(schema, { ...object, kind, apiVersion })))
}

/** Records the body of a patch as JSON; a body that is neither JSON nor YAML is left out. */
export function auditPatch({ audited }: Exchange, bytes: Uint8Array): void {
  if (!audited?.includesRequestBody) return
  const text = jsonOfPatch(bytes)
  if (text !== undefined) audited.setRequestBody(text)
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

interface SentResponse {
  readonly contentType: string
  readonly body: Uint8Array | undefined
  readonly status?: { readonly [key: string]: unknown } | undefined
}

export function auditResponse(exchange: Exchange, { body, contentType, status }: SentResponse): void {
  const { audited } = exchange
  if (!audited) return
  if (status !== undefined) audited.status = audited.includesResponseBody ? status : withoutPatch(status)
  if (!audited.includesResponseBody) return
  if (status !== undefined) audited.setResponseBody(writeAny(status))
  else if (body === undefined) audited.omitBody()
  else audited.setResponseBody(compacted(audited, jsonOf(exchange, contentType, body)))
}

/** Removes the document from the message of a patch error: it may contain data of a stored Secret. */
function withoutPatch(status: NonNullable<SentResponse['status']>): NonNullable<SentResponse['status']> {
  const { causes = [] } = (status['details'] ?? {}) as { readonly causes?: readonly { readonly field?: string }[] }
  if (!causes.some(({ field }) => field === 'patch')) return status
  const { details: _details, ...rest } = status
  return { ...rest, message: 'the patch cannot be applied' }
}

function compacted({ decision }: AuditRecord, json: string): string {
  if (decision.omitManagedFields) return withoutManagedFields(json)
  return json.startsWith('{\n') ? compactJson(json) : json.trimEnd()
}

function jsonOf(exchange: Exchange, contentType: string, body: Uint8Array): string {
  if (isEnvelope(body)) return jsonOfProtobuf(exchange, body)
  return contentType.startsWith('application/yaml') ? writeAny(readYaml(textOf(body)).value) : textOf(body)
}

function jsonOfProtobuf({ catalog, info }: Exchange, body: Uint8Array): string {
  const { kind, apiVersion, raw } = readEnvelope(body)
  const resource = catalog.find(info.group, info.version, info.resource)
  const subresource = info.subresource === '' ? undefined : resource?.subresources.get(info.subresource)
  const schema =
    kind === subresource?.type.kind
      ? (subresource.body?.schema ?? subresource.shown?.schema)
      : schemaOf(kind, subresource?.shown ?? resource)
  return schema === undefined ? 'null' : writeValue(schema, { ...decodeProtobuf(schema, raw), kind, apiVersion })
}

function schemaOf(kind: string, type: Resource | undefined): StructNode | undefined {
  if (kind === type?.kind) return type.schema
  if (type !== undefined && kind === `${type.kind}List`) return listSchemaOf(type.schema)
  return documentSchemas[kind]
}

const documentSchemas: { readonly [kind: string]: StructNode } = {
  PartialObjectMetadata: meta.partialObjectMetadata,
  PartialObjectMetadataList: meta.partialObjectMetadataList,
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIResourceList: meta.apiResourceList,
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

/** Collects a streamed response up to the limit of the audit log. */
export class AuditedChunks {
  private readonly chunks: Uint8Array[] = []
  private bytes = 0

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    if (this.bytes <= maxBodyChars) this.chunks.push(chunk)
  }

  join(): Uint8Array | undefined {
    return this.bytes <= maxBodyChars ? Buffer.concat(this.chunks) : undefined
  }
}
