// The answer with one object; a large one is encoded in a worker thread.

import { isLarge, largeYamlBytes } from '../base/large.js'
import type { Promised } from '../base/promised.js'
import type { WrittenObject } from '../verbs/engine.js'
import { type ObjectForm, type Represented, representObject, rowsOf, textOfStored, wireOf } from './represent.js'
import type { Target } from './target.js'

export function represented(target: Target, form: ObjectForm, written: WrittenObject): Promised<Represented> {
  const { server, call } = target
  const { steps } = server
  if (steps === undefined) return representObject(form, written)
  if (written.stored === undefined) return call.isLarge ? steps.represent(call, form, written.object) : representObject(form, written)
  return isLarge(written.stored.entry.value, largeYamlBytes) ? representLarge(target, form, written.stored) : representObject(form, written)
}

async function representLarge({ server }: Target, form: ObjectForm, stored: NonNullable<WrittenObject['stored']>): Promise<Represented> {
  const { as, format, pretty } = form.representation
  await server.engine.store.large.ahead(stored, as?.kind === 'Table' ? rowsOf(form, as) : wireOf(form))
  const isText = format === 'yaml' || pretty
  if (!isText || as?.kind === 'Table' || server.steps === undefined) return representObject(form, { stored })
  const { contentType, json } = await textOfStored(form, stored)
  return { contentType, body: await server.steps.writeText({ format: format === 'yaml' ? 'yaml' : 'pretty', json }), isObject: true }
}
