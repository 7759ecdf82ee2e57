// Documents made at once, for tests that look at what is in them.

import { getOrInsert } from '../../base/get-or-insert.js'
import { atOnce } from '../../base/pieces.js'
import type { NamedType } from '../../schema/openapi.js'
import type { Blueprint } from './blueprint.js'
import type { Json } from './check-document.fixture.js'
import { Entries } from './document-form.js'
import type { RouteSource } from './routes.js'
import { type Format, formsOf, renderShared, renderUnit } from './unit.js'

export function sourcesByDocument({ sources }: Blueprint): ReadonlyMap<string, readonly RouteSource[]> {
  const documents = new Map<string, RouteSource[]>()
  for (const source of sources) if (source.document !== undefined) getOrInsert(documents, source.document, () => []).push(source)
  return documents
}

export function documentBytes(blueprint: Blueprint, sources: readonly RouteSource[], format: Format): Buffer {
  const form = formsOf[format.version][format.name]
  const units = sources.map((source) => atOnce(renderUnit(blueprint, source, format)))
  const types = new Map<string, NamedType>(units.flatMap(({ shared }) => [...shared]))
  const join = (parts: readonly (Uint8Array | undefined)[]): Uint8Array => {
    const entries = new Entries(form)
    for (const part of parts) if (part !== undefined) entries.add(part)
    return atOnce(entries.joined()) ?? new Uint8Array()
  }
  const paths = join(units.map((unit) => unit.paths))
  const definitions = join([atOnce(renderShared(blueprint, types, format)).definitions, ...units.map((unit) => unit.definitions)])
  const { before, between, after } = form.frame(blueprint.info, { paths: paths.length, definitions: definitions.length })
  return Buffer.concat([before, paths, between, definitions, after])
}

const read = (bytes: Buffer): Json => JSON.parse(bytes.toString()) as Json

export const documentV2 = (blueprint: Blueprint): Json => read(documentBytes(blueprint, blueprint.sources, { version: 2, name: 'json' }))

export const documentV3 = (blueprint: Blueprint, sources: readonly RouteSource[]): Json =>
  read(documentBytes(blueprint, sources, { version: 3, name: 'json' }))
