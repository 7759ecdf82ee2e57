// History of one object: every recorded version with its author and changes, the object at a time, and differences between two times.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { StoredObject } from '../../../objects/entry/stored-object.js'
import type { Entry } from '../../../storage/storage.js'
import type { ResolvedRef } from '../object-ref.js'
import type { KeyHistory, RecordedVersion } from './change-record.js'
import { type FieldChange, fieldChanges } from './field-changes.js'

/** An object as the API shows it. */
interface HistoricObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface ObjectVersion {
  readonly resourceVersion: string
  /** When the change was committed, by the server's clock; undefined for a version from before the record began. */
  readonly time: Date | undefined
  /** `system:controller:NAME` for a controller; undefined if unknown: an expiry, a reset, or a change from before the record began. */
  readonly user: string | undefined
  /** The verb of the request; otherwise create, update or delete, by what has changed. */
  readonly verb: string
  /** Field manager of the request. */
  readonly manager: string | undefined
  /** Undefined if this version is the deletion. */
  readonly object: HistoricObject | undefined
  /** Without managedFields and resourceVersion. A creation shows every field, a deletion none. */
  readonly changes: readonly FieldChange[]
}

/** A Date or text such as `2026-01-31T10:00:00Z`; or a resourceVersion, as a number or digits. */
type PointInHistory = Date | string | number

export class ObjectHistory {
  /** The object, as text. */
  readonly ref: string
  readonly versions: readonly ObjectVersion[]
  /** The resourceVersion from which no version is missing; undefined if none is missing since the object was created. */
  readonly completeFrom: string | undefined

  constructor(ref: ResolvedRef, recorded: KeyHistory, current: Entry | undefined) {
    const { versions, keptFrom } = recorded
    const base = recorded.base ?? (versions.length === 0 ? current : undefined)
    const read = (entry: Entry): HistoricObject => objectOf(ref.resource, entry)
    this.ref = ref.text
    this.versions = [...(base === undefined ? [] : [baseVersion(read(base))]), ...laterVersions(versions, base, read)]
    const completeFrom = keptFrom ?? base?.revision
    this.completeFrom = completeFrom === undefined ? undefined : String(completeFrom)
  }

  /** The object as it was then; undefined if it did not exist. */
  at(point: PointInHistory): HistoricObject | undefined {
    const isUpTo = compileOrder(point)
    const found = this.versions.findLast(isUpTo)
    if (found === undefined && this.completeFrom !== undefined)
      throw new RangeError(`history of ${this.ref}: it is complete only from resourceVersion ${this.completeFrom}`)
    return found?.object
  }

  diff(from: PointInHistory, to: PointInHistory): readonly FieldChange[] {
    return fieldChanges(this.at(from), this.at(to))
  }

  /** Readable lines: each version with its changes. */
  text(): string {
    return [this.ref, ...this.versions.map(versionText)].join('\n')
  }
}

const baseVersion = (object: HistoricObject): ObjectVersion => ({
  resourceVersion: String(object.metadata['resourceVersion']),
  time: undefined,
  user: undefined,
  verb: 'create',
  manager: undefined,
  object,
  changes: fieldChanges(undefined, object),
})

function laterVersions(
  recorded: readonly RecordedVersion[],
  base: Entry | undefined,
  read: (entry: Entry) => HistoricObject,
): readonly ObjectVersion[] {
  let before = base === undefined ? undefined : read(base)
  return recorded.map(({ key, value, isCreated, commit: { revision, timeMs, author } }) => {
    const object = value === undefined ? undefined : read({ key, revision, value })
    // Without the version before, which was dropped, the changes are unknown.
    const isComparable = object !== undefined && (before !== undefined || isCreated)
    const changes = isComparable ? fieldChanges(before, object) : []
    before = object
    const isAuthored = author?.key === key
    return {
      resourceVersion: String(revision),
      time: new Date(timeMs),
      user: author?.user,
      verb: (isAuthored && author.verb) || (object === undefined ? 'delete' : isCreated ? 'create' : 'update'),
      manager: isAuthored ? author.manager : undefined,
      object,
      changes,
    }
  })
}

/** In the version of the resource; in the written version if a webhook would have to convert it. */
function objectOf(resource: Resource, entry: Entry): HistoricObject {
  const stored = new StoredObject(entry)
  const isConverted = resource.conversion === undefined || stored.isAvailableIn(resource, resource.conversion.version)
  const object = isConverted ? stored.shown(resource) : stored.decodeAsWritten(resource)
  const apiVersion = isConverted ? resource.apiVersion : stored.writtenVersion(resource)
  return { apiVersion, kind: resource.kind, ...object } as HistoricObject
}

function compileOrder(point: PointInHistory): (version: ObjectVersion) => boolean {
  if (typeof point === 'number' || (typeof point === 'string' && /^\d+$/.test(point))) {
    const revision = Number(point)
    return ({ resourceVersion }) => Number(resourceVersion) <= revision
  }
  const time = new Date(point).getTime()
  if (Number.isNaN(time)) throw new TypeError(`history: "${point}" is neither a time nor a resourceVersion`)
  return (version) => version.time === undefined || version.time.getTime() <= time
}

function versionText({ resourceVersion, time, user, verb, manager, changes }: ObjectVersion): string {
  const by = `${user ?? 'unknown'}${manager === undefined ? '' : ` (${manager})`}`
  const head = `  ${resourceVersion}  ${time?.toISOString() ?? 'before the record began'}  ${verb} by ${by}`
  return [head, ...changes.map((change) => `    ${changeText(change)}`)].join('\n')
}

const maxValueChars = 100

const valueText = (value: unknown): string => shorten(JSON.stringify(value), maxValueChars)

export function changeText({ path, before, after }: FieldChange, show = valueText): string {
  if (before === undefined) return `+ ${path}: ${show(after)}`
  return after === undefined ? `- ${path}: ${show(before)}` : `~ ${path}: ${show(before)} -> ${show(after)}`
}
