// Gives containers other images.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { explain, Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { changeLocally, localFlags } from '../local.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from '../results.js'
import { fileFlags, namedOrFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'set image (TYPE NAME… | TYPE/NAME… | TYPE --all | -f FILE) CONTAINER=IMAGE… [flags]',
  about: 'give containers other images; * is every container',
  examples: ['set image deployment/web web=nginx:2', 'set image deployments --all "*=nginx:2"'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...writeFlags,
    ...localFlags,
    all: { kind: 'switch', help: 'all of the type in the namespace' },
  },
  run: async (work) => {
    const { flags, io } = work
    const isPair = (word: string): boolean => word.includes('=')
    const args = work.args.filter((word) => !isPair(word))
    const images = new Map(work.args.filter(isPair).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
    if (images.size === 0) throw new UsageError('at least one image update is required')
    if (flags.local)
      return changeLocally({ args, io }, flags, (object) => {
        const { changed, missing } = planned(object, object.kind ?? '', images)
        if (missing.length > 0) throw notFound(missing)
        return { object: changed, what: 'image updated' }
      })
    const named = await namedOrFiled(args, flags, work)
    const results: Result[] = []
    let missed = ''
    const code = await forEach(named, io, async ({ collection, resource, name }) => {
      const { changed, patch, missing } = planned(await collection.get(name), `${resource.resource}/${name}`, images)
      // Of what has the others they are changed all the same, and told first.
      if (missing.length > 0) missed += explain(notFound(missing))
      if (patch === undefined) return
      const object = await writeUnlessDry(flags, changed, (terms) => collection.patch(name, patch, { ...terms, type: 'strategic' }))
      results.push({ resource, name, what: 'image updated', object })
    })
    tellResults(results, flags, io)
    if (missed !== '') io.err(missed)
    return missed === '' ? code : 1
  },
})

const notFound = (names: readonly string[]): Failure =>
  new Failure(names.map((name) => `unable to find container named "${name}"`).join('; '))

interface Container {
  readonly name: string
  readonly image?: string
}

type Spec = { readonly [field: string]: unknown }

interface Planned {
  readonly changed: DynamicObject
  /** Undefined where all is so already. */
  readonly patch: object | undefined
  readonly missing: readonly string[]
}

function planned(object: DynamicObject, what: string, images: ReadonlyMap<string, string>): Planned {
  const path = templatePaths.find((steps) => at(object, steps) !== undefined)
  if (path === undefined) throw new Failure(`${what} the object is not a pod or does not have a pod template: ${object.kind}`)
  const spec = at(object, path) as Spec
  const missing = new Set([...images.keys()].filter((name) => name !== '*'))
  const lists = ['initContainers', 'containers'].flatMap((member) => {
    const present = (spec[member] ?? []) as readonly Container[]
    const next = present.map((container) => {
      missing.delete(container.name)
      const image = images.get(container.name) ?? images.get('*')
      return image === undefined || image === container.image ? container : { ...container, image }
    })
    const different = next.filter((container, i) => container !== present[i]).map(({ name, image }) => ({ name, image }))
    return different.length === 0 ? [] : [{ member, next, different }]
  })
  const fill = (of: 'next' | 'different'): Spec => Object.fromEntries(lists.map((list) => [list.member, list[of]]))
  return {
    changed: put(object, path, { ...spec, ...fill('next') }) as DynamicObject,
    patch: lists.length === 0 ? undefined : put({}, path, fill('different')),
    missing: [...missing],
  }
}

/** Where the containers of an object are. */
const templatePaths = [['spec', 'jobTemplate', 'spec', 'template', 'spec'], ['spec', 'template', 'spec'], ['spec']] as const

function at(object: Spec, steps: readonly string[]): Spec | undefined {
  let place: unknown = object
  for (const step of steps) place = (place as Spec | undefined)?.[step]
  return Array.isArray((place as Spec | undefined)?.['containers']) ? (place as Spec) : undefined
}

function put(object: Spec, [step, ...more]: readonly string[], value: Spec): Spec {
  if (step === undefined) return value
  return { ...object, [step]: put((object[step] ?? {}) as Spec, more, value) }
}
