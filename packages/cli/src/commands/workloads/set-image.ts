// `set image`: changes images of containers.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, explain, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { changeLocally, localFlags } from '../../objects/local-change.js'
import { fileFlags, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { findPodSpec, type Spec, setAt } from '../../objects/pod-template.js'
import { printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'

export const command = defineCommand({
  usage: 'set image (TYPE NAME… | TYPE/NAME… | TYPE --all | -f FILE) CONTAINER=IMAGE… [flags]',
  examples: ['set image deployment/web web=nginx:2', 'set image deployments --all "*=nginx:2"'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...writeFlags,
    ...localFlags,
    all: { kind: 'switch', help: 'all objects of the type in the namespace' },
  },
  run: async (context) => {
    const { flags, io } = context
    const isPair = (word: string): boolean => word.includes('=')
    const args = context.args.filter((word) => !isPair(word))
    const images = new Map(context.args.filter(isPair).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
    if (images.size === 0) throw new UsageError('at least one image update is required')
    if (flags.local)
      return changeLocally({ args, io }, flags, (object) => {
        const { changed, missing } = planChange(object, object.kind ?? '', images)
        if (missing.length > 0) throw notFound(missing)
        return { object: changed, operation: 'image updated' }
      })
    const targets = await resolveObjects(args, flags, context)
    const results: Result[] = []
    let missingErrors = ''
    const code = await forEach(targets, io, async ({ collection, resource, name }) => {
      const { changed, patch, missing } = planChange(await collection.get(name), `${resource.resource}/${name}`, images)
      if (missing.length > 0) missingErrors += explain(notFound(missing))
      if (patch === undefined) return
      const object = await writeUnlessDryRun(flags, changed, (options) => collection.patch(name, patch, { ...options, type: 'strategic' }))
      results.push({ resource, name, operation: 'image updated', object })
    })
    printResults(results, flags, io)
    if (missingErrors !== '') io.err(missingErrors)
    return missingErrors === '' ? code : 1
  },
})

const notFound = (names: readonly string[]): CommandError =>
  new CommandError(names.map((name) => `unable to find container named "${name}"`).join('; '))

interface Container {
  readonly name: string
  readonly image?: string
}

interface PlannedChange {
  readonly changed: DynamicObject
  readonly patch: object | undefined
  readonly missing: readonly string[]
}

function planChange(object: DynamicObject, description: string, images: ReadonlyMap<string, string>): PlannedChange {
  const { path, spec } = findPodSpec(object, description)
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
  const fill = (key: 'next' | 'different'): Spec => Object.fromEntries(lists.map((list) => [list.member, list[key]]))
  return {
    changed: setAt(object, path, { ...spec, ...fill('next') }) as DynamicObject,
    patch: lists.length === 0 ? undefined : setAt({}, path, fill('different')),
    missing: [...missing],
  }
}
