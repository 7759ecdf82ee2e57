// `patch`: JSON, merge and strategic merge patches.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import type { PatchType } from '@cluster-apiserver/client/requests/request-options.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { changeLocally, localFlags, resourceFrom } from '../../objects/local-change.js'
import { fileFlags, resolveObjects } from '../../objects/object-arguments.js'
import { parseDryRun, printResults, type Result, writeFlags } from '../../objects/write-results.js'

const patchTypes = ['json', 'merge', 'strategic'] as const satisfies readonly PatchType[]

export const command = defineCommand({
  usage: 'patch (TYPE NAME | TYPE/NAME | -f FILE) -p PATCH [flags]',
  examples: [
    `patch configmap prices -p '{"data":{"apple":"4"}}' --type=merge`,
    `patch deployment shop --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'`,
  ],
  flags: {
    ...fileFlags,
    ...writeFlags,
    ...localFlags,
    patch: { kind: 'text', short: 'p', help: 'patch as JSON or YAML' },
    'patch-file': { kind: 'text', help: 'file with the patch' },
    type: { kind: 'text', initial: 'strategic', help: 'json, merge or strategic' },
    subresource: { kind: 'text', help: 'subresource: status or scale' },
  },
  run: async (context) => {
    const { flags, io } = context
    const type = patchTypes.find((candidate) => candidate === flags.type)
    if (type === undefined) throw new UsageError(`--type must be one of ${patchTypes.join(', ')}, not "${flags.type}"`)
    const { subresource, 'patch-file': file } = flags
    if (subresource !== undefined && !['status', 'scale'].includes(subresource))
      throw new UsageError(`invalid subresource value: "${subresource}". Must be one of [status scale]`)
    if (file !== undefined && flags.patch !== undefined) throw new UsageError('cannot specify --patch and --patch-file together')
    const text = file === undefined ? flags.patch : readFileSync(file, 'utf8')
    if (text === undefined || text === '') throw new UsageError('must specify --patch or --patch-file containing the contents of the patch')
    const patch = parse(text)
    if (flags.local) {
      const { patchLocally } = await import('./local-patch.js')
      return changeLocally(context, flags, async (object) => {
        const next = await patchLocally(object, patch, type)
        return { object: next, operation: isDeepStrictEqual(next, object) ? 'patched (no change)' : 'patched' }
      })
    }
    const dryRun = parseDryRun(flags['dry-run'])
    const results: Result[] = []
    const code = await forEach(await resolveObjects(context.args, flags, context), io, async ({ collection, resource, name }) => {
      const endpoint = subresource === undefined ? collection : collection.subresource(subresource)
      const original = await endpoint.get(name)
      const options = {
        type,
        dryRun: dryRun !== 'none',
        ...(type === 'json' || flags['field-manager'] !== undefined ? { fieldManager: flags['field-manager'] ?? '' } : {}),
      }
      const object = await endpoint.patch(name, patch, options)
      const isSame = object.metadata?.resourceVersion === original.metadata?.resourceVersion && dryRun === 'none'
      const printedResource = subresource === undefined ? resource : resourceFrom(object)
      results.push({ resource: printedResource, name, operation: isSame ? 'patched (no change)' : 'patched', object })
    })
    printResults(results, flags, io)
    return code
  },
})

function parse(text: string): object {
  try {
    const { value } = readYaml(text)
    if (typeof value === 'object' && value !== null) return value
  } catch (thrown) {
    throw new CommandError(`unable to parse "${text}": ${errorMessage(thrown)}`)
  }
  throw new CommandError(`unable to parse "${text}": not an object or list`)
}
