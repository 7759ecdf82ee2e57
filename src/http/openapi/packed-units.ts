// Units of documents, rendered when a document first needs them and kept compressed as long as what they follow from is there.

import type { RemoteSpec } from '../../api/remote-openapi.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { onceFor } from '../../base/once-for.js'
import { nowOrInPieces, type PieceClock } from '../../base/pieces.js'
import { sortTexts } from '../../base/text-order.js'
import type { PublishedKind } from '../../schema/openapi.js'
import type { Blueprint } from './blueprint.js'
import { type PackedPart, packPart } from './packed-part.js'
import { type Placement, placementKey, renderSpec } from './place-specs.js'
import type { RouteSource } from './routes.js'
import { type Format, formsOf, renderShared, renderUnit, type SharedBytes, type Types, type UnitBytes } from './unit.js'

export interface PackedUnit extends Pick<UnitBytes, 'names' | 'shared'> {
  readonly paths: PackedPart | undefined
  readonly definitions: PackedPart | undefined
}

export interface PackedShared extends Pick<SharedBytes, 'types' | 'heard'> {
  readonly definitions: PackedPart | undefined
}

/** Compressing is not waited for before the next one is rendered. */
interface Packing<T> {
  readonly rendered: Promise<unknown>
  readonly packed: Promise<T>
}

/** How many may be compressed at a time: each of them is held as a whole meanwhile. */
const mostPacking = 8

/** Works that are asked for twice at a time are done once. `pieces` is the time of all work on one document. */
export class PackedUnits {
  readonly #units = onceFor((_of: object) => new Map<string, Packing<PackedUnit>>())
  readonly #shared = new Map<string, Promise<PackedShared>>()
  /** The last of each form. */
  readonly #specs = onceFor((_spec: RemoteSpec) => new Map<string, { readonly key: string; readonly unit: Packing<PackedUnit> }>())

  /** In the order of their sources. */
  units(blueprint: Blueprint, sources: readonly RouteSource[], format: Format, pieces: PieceClock): Promise<readonly PackedUnit[]> {
    return eachPacked(sources, (source) =>
      getOrInsert(this.#units(source.of), `${keyOf(format)} ${source.document}`, () =>
        packing(() => renderUnit(blueprint, source, format), pieces),
      ),
    )
  }

  specs(placements: readonly Placement[], format: Format, pieces: PieceClock): Promise<readonly PackedUnit[]> {
    return eachPacked(placements, (placement) => {
      const known = this.#specs(placement.spec)
      const key = placementKey(placement)
      const found = known.get(format.name)
      if (found?.key === key) return found.unit
      const unit = packing(() => renderSpec(placement, formsOf[format.version][format.name]), pieces)
      known.set(format.name, { key, unit })
      return unit
    })
  }

  /** The definitions of types that units have in common. */
  async shared(blueprint: Blueprint, types: Types, format: Format, pieces: PieceClock): Promise<PackedShared> {
    const key = `${keyOf(format)} ${sortTexts([...types.keys()]).join(' ')}`
    const found = this.#shared.get(key)
    if (found !== undefined && isSaidOf(blueprint, await found)) return found
    const made = packShared(blueprint, types, format, pieces)
    this.#shared.set(key, made)
    return made
  }
}

const keyOf = ({ version, name }: Format): string => `${version} ${name}`

async function eachPacked<Source>(
  sources: readonly Source[],
  pack: (source: Source) => Packing<PackedUnit>,
): Promise<readonly PackedUnit[]> {
  const units: Packing<PackedUnit>[] = []
  for (const source of sources) {
    const unit = pack(source)
    units.push(unit)
    await unit.rendered
    await units.at(-mostPacking)?.packed
  }
  return await Promise.all(units.map(({ packed }) => packed))
}

function packing(render: () => Generator<undefined, UnitBytes, void>, pieces: PieceClock): Packing<PackedUnit> {
  const rendered = rendering(render, pieces)
  const packed = rendered.then((bytes) => packUnit(bytes, pieces))
  // Whoever waits for what is rendered hears of it first, and nobody may be left to wait for the rest.
  packed.catch(() => undefined)
  return { rendered, packed }
}

async function rendering(render: () => Generator<undefined, UnitBytes, void>, pieces: PieceClock): Promise<UnitBytes> {
  if (pieces.isOver) await pieces.next()
  return await nowOrInPieces(render(), pieces)
}

async function packUnit({ paths, definitions, names, shared }: UnitBytes, pieces: PieceClock): Promise<PackedUnit> {
  const packed = await Promise.all([paths && packPart(paths, pieces), definitions && packPart(definitions, pieces)])
  return { paths: packed[0], definitions: packed[1], names, shared }
}

async function packShared(blueprint: Blueprint, types: Types, format: Format, pieces: PieceClock): Promise<PackedShared> {
  const { definitions, ...rest } = await nowOrInPieces(renderShared(blueprint, types, format), pieces)
  return { ...rest, definitions: definitions && (await packPart(definitions, pieces)) }
}

/** Whether what was rendered before is what would be rendered now. */
function isSaidOf(blueprint: Blueprint, { heard }: PackedShared): boolean {
  for (const [node, kinds] of heard) if (!areSame(blueprint.kindsOf(node), kinds)) return false
  return true
}

const areSame = (some: readonly PublishedKind[], others: readonly PublishedKind[]): boolean =>
  some === others ||
  (some.length === others.length &&
    some.every(({ group, version, kind }, i) => {
      const other = others[i] as PublishedKind
      return group === other.group && version === other.version && kind === other.kind
    }))
