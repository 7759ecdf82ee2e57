// Who watches one collection, and who of them may see a change. Where there are many, those that ask for a namespace, a name, the value of a
// field or a label are looked up by it, so that a change costs as much as it has labels, and not as much as there are questions.

import type { Resource } from '../api/catalog.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
import type { KeyRange } from '../storage/storage.js'
import { fieldOf, type Matcher, type Selection, selectionKey } from './selection.js'
import type { StoredObject } from './stored-object.js'
import type { EventBatch, Sighting } from './watch-events.js'

/** A watcher that may have to wait for its turn. */
export interface ClientWatcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** What `matches` was made of, where others may have the same. */
  readonly selection?: Selection
  /** What it watches, in which version. Its fields may be others when the kind has changed. */
  readonly resource?: Resource
  /** Called with what the watcher shall see, in order, several events at a time. */
  readonly take: (batch: EventBatch) => void
  /** Called when the server will deliver nothing more, or cannot deliver all. */
  readonly end: () => void
  /** Called when what it would see cannot be found out, and nothing more will be delivered. */
  readonly fail: (thrown: unknown) => void
}

/** Watchers who see the same. */
export interface Audience {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** Each with the revision up to which it knows everything. */
  readonly watchers: Map<ClientWatcher, number>
}

/** Of so many each is asked: that is quicker than to look them up. */
const few = 8

const pathOfName = 'metadata.name'

type Bucket = Set<Audience>

export class Audiences {
  readonly #all = new Map<unknown, Audience>()
  /** By the start of the range that they watch: all of the collection, or one namespace of it. */
  readonly #crowds = new Map<string, Crowd>()

  get size(): number {
    return this.#all.size
  }

  /** The watcher knows everything up to a revision. The function that is returned lets it go. */
  add(watcher: ClientWatcher, since: number): () => void {
    const key = audienceKey(watcher)
    const audience = this.#all.get(key) ?? this.#open(key, watcher)
    audience.watchers.set(watcher, since)
    return () => {
      if (audience.watchers.delete(watcher) && audience.watchers.size === 0) this.#close(key, audience)
    }
  }

  /** Those who watch what is over: they are told nothing more. */
  silence(isOver: (resource: ClientWatcher['resource']) => boolean): ClientWatcher[] {
    const silenced: ClientWatcher[] = []
    for (const { watchers } of this.#all.values()) {
      for (const watcher of watchers.keys()) {
        if (!isOver(watcher.resource)) continue
        watchers.set(watcher, Number.POSITIVE_INFINITY)
        silenced.push(watcher)
      }
    }
    return silenced
  }

  /** Those who may see some of the changes, each with these; undefined stands for a step in which nobody was found. */
  *whoMaySee(sightings: readonly Sighting[]): Generator<readonly [Audience, readonly Sighting[]] | undefined> {
    if (this.#all.size <= few) {
      for (const audience of this.#all.values()) yield [audience, sightings]
      return
    }
    const found = new Map<Bucket, Sighting[]>()
    for (const sighting of sightings) {
      for (const crowd of this.#crowdsAt(sighting.key)) {
        for (const bucket of crowd.bucketsOf(sighting)) {
          const seen = getOrInsert(found, bucket, () => [])
          // It may be there before and after the change.
          if (seen.at(-1) !== sighting) seen.push(sighting)
        }
      }
      yield undefined
    }
    for (const [bucket, seen] of found) for (const audience of bucket) yield [audience, seen]
  }

  #open(key: unknown, watcher: ClientWatcher): Audience {
    const audience: Audience = { range: watcher.range, matches: watcher.matches, watchers: new Map() }
    this.#all.set(key, audience)
    getOrInsert(this.#crowds, watcher.range.start, () => new Crowd()).add(audience, watcher)
    return audience
  }

  #close(key: unknown, audience: Audience): void {
    if (this.#all.get(key) === audience) this.#all.delete(key)
    const { start } = audience.range
    const crowd = this.#crowds.get(start)
    if (crowd?.delete(audience) === 0) this.#crowds.delete(start)
  }

  *#crowdsAt(key: string): Generator<Crowd> {
    const first = key.indexOf('/') + 1
    const second = key.indexOf('/', first) + 1
    const whole = this.#crowds.get(key.slice(0, first))
    if (whole !== undefined) yield whole
    const one = second === 0 ? undefined : this.#crowds.get(key.slice(0, second))
    if (one !== undefined) yield one
  }
}

/** Which field of an object an audience asks for. */
interface AskedField {
  readonly resource: Resource
  readonly path: string
  /** Of audiences that are found by it. */
  audiences: number
}

/** The word by which an audience is found, and the field that has to be looked at for it. */
interface Place {
  readonly word: string
  readonly kind: 'name' | 'label' | 'field'
  readonly field?: AskedField
}

/** The audiences of one range. Each lies in one bucket: with those who ask for the same word, or with all others. */
class Crowd {
  readonly #others: Bucket = new Set()
  readonly #byWord = new Map<string, Bucket>()
  readonly #places = new Map<Audience, Place>()
  readonly #fields = new Map<string, AskedField>()
  readonly #counts = { name: 0, label: 0, field: 0 }

  add(audience: Audience, watcher: ClientWatcher): void {
    const place = this.#placeFor(watcher)
    if (place === undefined) {
      this.#others.add(audience)
      return
    }
    getOrInsert(this.#byWord, place.word, () => new Set<Audience>()).add(audience)
    this.#places.set(audience, place)
    this.#counts[place.kind]++
    if (place.field === undefined) return
    place.field.audiences++
    this.#fields.set(fieldWord(place.field), place.field)
  }

  /** How many are left. */
  delete(audience: Audience): number {
    const place = this.#places.get(audience)
    if (place === undefined) this.#others.delete(audience)
    else {
      this.#places.delete(audience)
      this.#counts[place.kind]--
      const bucket = this.#byWord.get(place.word)
      bucket?.delete(audience)
      if (bucket?.size === 0) this.#byWord.delete(place.word)
      if (place.field !== undefined && --place.field.audiences === 0) this.#fields.delete(fieldWord(place.field))
    }
    return this.#others.size + this.#places.size
  }

  /** The same bucket may come twice. */
  *bucketsOf(sighting: Sighting): Generator<Bucket> {
    if (this.#others.size > 0) yield this.#others
    if (this.#counts.name > 0) yield* this.#at(nameWord(sighting.key.slice(sighting.key.lastIndexOf('/') + 1)))
    for (const object of sighting.sides()) {
      if (this.#counts.label > 0) yield* this.#byLabels(object)
      for (const field of this.#fields.values()) yield* this.#byValue(field, object)
    }
  }

  *#at(word: string): Generator<Bucket> {
    const bucket = this.#byWord.get(word)
    if (bucket !== undefined) yield bucket
  }

  *#byLabels(object: StoredObject): Generator<Bucket> {
    const labels = object.labels()
    for (const key in labels) {
      yield* this.#at(labelWord(key))
      yield* this.#at(labelWord(key, labels[key]))
    }
  }

  *#byValue(field: AskedField, object: StoredObject): Generator<Bucket> {
    const word = fieldWord(field)
    let value: string
    try {
      value = fieldOf(field.resource, object, field.path)
    } catch {
      // Whoever asks for it finds out by himself, and is told.
      for (const [asked, bucket] of this.#byWord) if (asked.startsWith(word)) yield bucket
      return
    }
    yield* this.#at(`${word}${value}`)
  }

  /** Of what an object must have to be seen: that for which the fewest others ask. */
  #placeFor({ selection, resource }: ClientWatcher): Place | undefined {
    if (selection === undefined) return undefined
    let best: Place | undefined
    let least = Number.POSITIVE_INFINITY
    for (const place of this.#placesFor(selection, resource)) {
      const size = this.#byWord.get(place.word)?.size ?? 0
      if (size < least) {
        best = place
        least = size
      }
      if (least === 0) break
    }
    return best
  }

  *#placesFor({ fields, labels }: Selection, resource: Resource | undefined): Generator<Place> {
    for (const { field: path, operator, value } of fields?.requirements ?? []) {
      if (operator !== '=') continue
      if (path === pathOfName) yield { word: nameWord(value), kind: 'name' }
      else if (resource !== undefined) {
        const asked = { resource, path, audiences: 0 }
        const field = this.#fields.get(fieldWord(asked)) ?? asked
        yield { word: `${fieldWord(field)}${value}`, kind: 'field', field }
      }
    }
    for (const { key, operator, values } of labels?.requirements ?? []) {
      if (operator === '=' || operator === '==' || (operator === 'in' && values.length === 1))
        yield { word: labelWord(key, values[0]), kind: 'label' }
      else if (operator === 'in' || operator === 'exists') yield { word: labelWord(key), kind: 'label' }
    }
  }
}

/** Names and labels have no `=` in them. */
const nameWord = (name: string): string => `=${name}`
const labelWord = (key: string, value?: string): string => (value === undefined ? `label ${key}` : `label ${key}=${value}`)
const fieldWord = ({ resource, path }: AskedField): string => `field ${numberOf(resource)} ${path}=`

/** Who has a test of his own, made of nothing that could be compared, is alone. */
function audienceKey(watcher: ClientWatcher): unknown {
  const { range, matches, selection, resource } = watcher
  if (matches !== undefined && selection === undefined) return watcher
  const selected = selection === undefined ? '' : selectionKey(selection)
  const whose = selection?.fields === undefined || resource === undefined ? 0 : numberOf(resource)
  return `${range.start}\n${range.end}\n${whose}\n${selected}`
}

let lastNumber = 0
const numberOf = onceFor<object, number>(() => ++lastNumber)
