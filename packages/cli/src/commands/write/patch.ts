// Changes parts of an object by a patch.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { PatchType } from '../../client/query.js'
import { readYaml } from '../../codec/yaml/read-yaml.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { changeLocally, localFlags, resourceFrom } from '../local.js'
import { dryRunOf, type Result, tellResults, writeFlags } from '../results.js'
import { fileFlags, namedOrFiled } from '../targets.js'

const types = ['json', 'merge', 'strategic'] as const satisfies readonly PatchType[]

export const command = defineCommand({
  usage: 'patch (TYPE NAME | TYPE/NAME | -f FILE) -p PATCH [flags]',
  about: 'change parts of an object',
  examples: [
    `patch configmap prices -p '{"data":{"apple":"4"}}' --type=merge`,
    `patch deployment shop --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'`,
  ],
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...localFlags,
    patch: { kind: 'text', short: 'p', help: 'the patch, as JSON or YAML' },
    'patch-file': { kind: 'text', help: 'a file with the patch' },
    type: { kind: 'text', initial: 'strategic', help: 'json, merge or strategic' },
    subresource: { kind: 'text', help: 'of a part of the object: status or scale' },
  },
  run: async (work) => {
    const { flags, io } = work
    const type = types.find((one) => one === flags.type)
    if (type === undefined) throw new UsageError(`--type must be one of ${types.join(', ')}, not "${flags.type}"`)
    const { subresource, 'patch-file': file } = flags
    if (subresource !== undefined && !['status', 'scale'].includes(subresource))
      throw new UsageError(`invalid subresource value: "${subresource}". Must be one of [status scale]`)
    if (file !== undefined && flags.patch !== undefined) throw new UsageError('cannot specify --patch and --patch-file together')
    const text = file === undefined ? flags.patch : readFileSync(file, 'utf8')
    if (text === undefined || text === '') throw new UsageError('must specify --patch or --patch-file containing the contents of the patch')
    const patch = parse(text)
    if (flags.local) {
      const { patchLocally } = await import('../local-patch.js')
      return changeLocally(work, flags, async (object) => {
        const next = await patchLocally(object, patch, type)
        return { object: next, what: isDeepStrictEqual(next, object) ? 'patched (no change)' : 'patched' }
      })
    }
    const dryRun = dryRunOf(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(await namedOrFiled(work.args, flags, work), io, async ({ collection, resource, name }) => {
      const part = subresource === undefined ? collection : collection.subresource(subresource)
      const before = await part.get(name)
      const options = {
        type,
        dryRun: dryRun !== 'none',
        ...(type === 'json' || flags['field-manager'] !== undefined ? { fieldManager: flags['field-manager'] ?? '' } : {}),
      }
      const object = await part.patch(name, patch, options)
      const isSame = object.metadata?.resourceVersion === before.metadata?.resourceVersion && dryRun === 'none'
      // A part may be of another kind.
      const shown = subresource === undefined ? resource : resourceFrom(object)
      results.push({ resource: shown, name, what: isSame ? 'patched (no change)' : 'patched', object })
    })
    tellResults(results, flags, io)
    return code
  },
})

function parse(text: string): object {
  try {
    const { value } = readYaml(text)
    if (typeof value === 'object' && value !== null) return value
  } catch (thrown) {
    throw new Failure(`unable to parse "${text}": ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
  throw new Failure(`unable to parse "${text}": an object or a list is expected`)
}
