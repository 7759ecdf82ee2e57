// Fixture: renders whole OpenAPI documents without compression, and lists all routes.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { NamedType } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import type { Route } from '../paths/route.js'
import type { RouteSource } from '../paths/routes.js'
import type { Blueprint } from './blueprint.js'
import type { Json } from './check-document.fixture.js'
import { joinEntries } from './document-encoding.js'
import { encodings, type Format, renderShared, renderUnit, type UnitBytes } from './document-unit.js'

export const allRoutes = ({ sources }: Blueprint): readonly Route[] =>
  sources.flatMap(({ routes }) => routes()).sort((a, b) => compareText(a.path, b.path))

export function sourcesByDocument({ sources }: Blueprint): ReadonlyMap<string, readonly RouteSource[]> {
  const documents = new Map<string, RouteSource[]>()
  for (const source of sources) if (source.document !== undefined) getOrInsert(documents, source.document, () => []).push(source)
  return documents
}

export async function documentBytes(blueprint: Blueprint, sources: readonly RouteSource[], format: Format): Promise<Buffer> {
  const encoding = encodings[format.version][format.name]
  const units: UnitBytes[] = []
  for (const source of sources) units.push(await renderUnit(blueprint, source, format, turnBudget))
  const types = new Map<string, NamedType>(units.flatMap(({ shared }) => [...shared]))
  const join = (parts: readonly (Uint8Array | undefined)[]): Uint8Array =>
    joinEntries(
      encoding,
      parts.filter((part) => part !== undefined),
    ) ?? new Uint8Array()
  const paths = join(units.map((unit) => unit.paths))
  const shared = await renderShared(blueprint, types, format, turnBudget)
  const definitions = join([shared.definitions, ...units.map((unit) => unit.definitions)])
  const { before, between, after } = encoding.frame(blueprint.info, { paths: paths.length, definitions: definitions.length })
  return Buffer.concat([before, paths, between, definitions, after])
}

const read = (bytes: Buffer): Json => JSON.parse(bytes.toString()) as Json

export const documentV2 = async (blueprint: Blueprint): Promise<Json> =>
  read(await documentBytes(blueprint, blueprint.sources, { version: 2, name: 'json' }))

export const documentV3 = async (blueprint: Blueprint, sources: readonly RouteSource[]): Promise<Json> =>
  read(await documentBytes(blueprint, sources, { version: 3, name: 'json' }))
