// The answer with one object; a large one is encoded in a worker thread.

import type { Call } from '../api/call.js'
import { isLarge, largeYamlBytes } from '../base/large.js'
import type { Promised } from '../base/promised.js'
import type { WrittenObject } from '../verbs/engine.js'
import { readyToShow } from '../verbs/versions.js'
import { type ObjectForm, type Represented, representObject, rowsOf, textOfStored, wireOf } from './represent.js'
import type { RequestSteps } from './request-steps.js'
import type { ResourceServer } from './target.js'

/** `call`: with the size of what was read or written. */
export function represented(
  { engine, steps }: ResourceServer,
  call: Call,
  form: ObjectForm,
  written: WrittenObject,
): Promised<Represented> {
  const { stored } = written
  const isSmall = stored === undefined ? !call.isLarge : !isLarge(stored.entry.value, largeYamlBytes)
  // A list cannot be wanted of one object, which is refused there.
  if (steps === undefined || isSmall || form.representation.as?.kind === 'PartialObjectMetadataList') return representObject(form, written)
  return stored === undefined
    ? representUnstored(steps, call, form, written)
    : representStored(engine, steps.writeTextFor(call), form, stored)
}

async function representUnstored(steps: RequestSteps, call: Call, form: ObjectForm, written: WrittenObject): Promise<Represented> {
  const { object = {} } = await readyToShow(written, form.resource)
  return steps.represent(call, form, object)
}

async function representStored(
  { store }: ResourceServer['engine'],
  writeText: ReturnType<RequestSteps['writeTextFor']>,
  form: ObjectForm,
  stored: NonNullable<WrittenObject['stored']>,
): Promise<Represented> {
  const { as, format, pretty } = form.representation
  await store.large.ahead(stored, as?.kind === 'Table' ? rowsOf(form, as) : wireOf(form))
  if ((format !== 'yaml' && !pretty) || as?.kind === 'Table') return representObject(form, { stored })
  const { contentType, json } = await textOfStored(form, stored)
  return { contentType, body: await writeText({ format: format === 'yaml' ? 'yaml' : 'pretty', json, areItems: false }), isObject: true }
}
