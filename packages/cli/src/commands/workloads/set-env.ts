// `set env`: sets, removes and lists environment variables of containers.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { CommandError, explain, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { changeLocally, localFlags } from '../../objects/local-change.js'
import { originOf, readManifests } from '../../objects/manifests.js'
import { fullNameOf } from '../../objects/named-object.js'
import { fileFlags, rejectArgumentsWithFiles, resolveObjects, resolveOne, selectFlags } from '../../objects/object-arguments.js'
import { findPodSpec, type Spec, setAt } from '../../objects/pod-template.js'
import { parseDryRun, printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'
import { outputOf } from '../../output/print-flags.js'
import {
  changeEnv,
  checkOverwrites,
  describeSource,
  type EnvChanges,
  type EnvVar,
  envNameOf,
  envPatch,
  isEnvChange,
  matchesWildcard,
  readEnvChanges,
} from './environment.js'
import { type EnvContainer, EnvResolver } from './resolve-environment.js'

export const command = defineCommand({
  usage: 'set env (TYPE NAME… | TYPE/NAME… | TYPE --all | -f FILE) (KEY=VALUE… KEY-… | --from=configmap/NAME | --list) [flags]',
  examples: [
    'set env deployment/web MODE=fast OLD-',
    'set env deployment/web --from=secret/login --prefix=DB_',
    'set env deployment/web --list --resolve',
    'set env -f web.yaml MODE=fast --local -o yaml',
  ],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...writeFlags,
    ...localFlags,
    all: { kind: 'switch', help: 'all objects of the type in the namespace' },
    containers: { kind: 'text', short: 'c', initial: '*', help: 'names of the containers; may contain *' },
    env: { kind: 'texts', short: 'e', help: 'KEY=VALUE; -: read lines KEY=VALUE from stdin' },
    from: { kind: 'text', help: 'ConfigMap or Secret whose keys become variables: configmap/NAME or secret/NAME' },
    keys: { kind: 'list', help: 'keys of --from; default: all' },
    prefix: { kind: 'text', help: 'prefix of the names of the variables' },
    list: { kind: 'switch', help: 'print the variables; changes nothing' },
    resolve: { kind: 'switch', help: 'with --list: print values of references' },
    overwrite: { kind: 'switch', initial: 'true', help: 'false: changes of existing variables are errors' },
  },
  run: async (context) => {
    const { flags, io, session } = context
    const firstChange = context.args.findIndex(isEnvChange)
    const args = firstChange < 0 ? context.args : context.args.slice(0, firstChange)
    const words = firstChange < 0 ? [] : context.args.slice(firstChange)
    if (!words.every(isEnvChange))
      throw new UsageError(`all resources must be specified before environment changes: ${context.args.join(' ')}`)
    if (flags.all && flags.selector !== undefined) throw new UsageError('cannot set --all and --selector at the same time')
    if (flags.local && parseDryRun(flags['dry-run']) === 'server')
      throw new UsageError('cannot specify --local and --dry-run=server - did you mean --dry-run=client?')
    if (flags.filename.length === 0 && args.length === 0)
      throw new UsageError('one or more resources must be specified as <resource> <name> or <resource>/<name>')
    if (flags.list && outputOf(flags) !== '') throw new UsageError('--list and --output may not be specified together')
    if (flags.keys.length > 0 && flags.from === undefined)
      throw new UsageError('when specifying --keys, a configmap or secret must be provided with --from')
    if (flags.local && flags.from !== undefined) throw new UsageError('--from needs the server: leave out --local')
    if (flags.resolve && !flags.list) throw new UsageError('--resolve needs --list')
    const typed = await readEnvChanges([...flags.env, ...words], io.readStdin)
    const imported = flags.from === undefined ? [] : await variablesFrom(flags.from, flags.keys, context)
    const set = [...typed.set, ...imported].map((variable) => ({ ...variable, name: `${flags.prefix ?? ''}${variable.name}` }))
    const changes: EnvChanges = { set, remove: typed.remove }
    if (!flags.list && set.length === 0 && changes.remove.length === 0)
      throw new UsageError('at least one environment variable must be provided')
    const settings: PlanSettings = { changes, containers: flags.containers ?? '*', overwrite: flags.overwrite }
    const warnWithoutContainers = (kind: string, name: string): void =>
      io.err(`warning: ${kind}/${name} does not have any containers matching ${JSON.stringify(settings.containers)}\n`)
    if (flags.local && flags.list) {
      if (flags.resolve) throw new UsageError('--resolve needs the server: leave out --local')
      rejectArgumentsWithFiles(args, flags)
      const objects = (await readManifests(flags, io)).map((object) => ({ object, origin: originOf(object) }))
      return forEach(objects, io, async ({ object }) => {
        const { kind = '', metadata } = object
        await listVariables(object, `${kind} ${metadata?.name}`, planChange(object, kind, settings).listed)
      })
    }
    if (flags.local)
      return changeLocally({ args, io }, flags, (object) => {
        const { changed, listed } = planChange(object, `${object.kind?.toLowerCase()}s/${object.metadata?.name}`, settings)
        if (listed.length === 0) warnWithoutContainers(object.kind ?? '', object.metadata?.name ?? '')
        return { object: changed, operation: 'env updated' }
      })
    const results: Result[] = []
    const resolver = new EnvResolver(session)
    const code = await forEach(await resolveObjects(args, flags, context), io, async ({ collection, resource, name }) => {
      const live = await collection.get(name)
      const { changed, patch, listed } = planChange(live, `${resource.resource}/${name}`, settings)
      if (listed.length === 0) return warnWithoutContainers(resource.kind, name)
      if (flags.list) return listVariables(live, `${resource.kind} ${name}`, listed)
      if (patch === undefined) return
      const object = await writeUnlessDryRun(flags, changed, (options) => collection.patch(name, patch, { ...options, type: 'strategic' }))
      results.push({ resource, name, operation: 'env updated', object })
    })
    printResults(results, flags, io)
    return code

    async function listVariables(object: DynamicObject, title: string, containers: readonly ListedContainer[]): Promise<void> {
      let hasErrors = false
      for (const container of containers) {
        const failures = new Map<string, string[]>()
        io.out(`# ${title}, container ${container.name}\n`)
        for (const { name, value = '', valueFrom } of container.env) {
          if (valueFrom === undefined) {
            io.out(`${name}=${value}\n`)
            continue
          }
          try {
            if (flags.resolve) {
              io.out(`${name}=${await resolver.valueOf(valueFrom, object, container)}\n`)
              continue
            }
          } catch (thrown) {
            const message = errorMessage(thrown)
            failures.set(message, [...(failures.get(message) ?? []), name])
          }
          io.out(`# ${name} from ${describeSource(valueFrom)}\n`)
        }
        const lines = [...failures].map(([message, names]) => `error retrieving reference for ${sortTexts(names).join(', ')}: ${message}`)
        for (const line of sortTexts(lines)) io.err(explain(new CommandError(line)).replace(/^error: /, ''))
        hasErrors ||= failures.size > 0
      }
      if (hasErrors) throw new CommandError('failed to retrieve valueFrom references')
    }
  },
})

interface PlanSettings {
  readonly changes: EnvChanges
  readonly containers: string
  readonly overwrite: boolean
}

interface ListedContainer extends EnvContainer {
  readonly env: readonly EnvVar[]
}

interface PlannedChange {
  readonly changed: DynamicObject
  readonly patch: object | undefined
  /** Selected containers with their changed variables. */
  readonly listed: readonly ListedContainer[]
}

function planChange(object: DynamicObject, description: string, { changes, containers: pattern, overwrite }: PlanSettings): PlannedChange {
  const { path, spec } = findPodSpec(object, description)
  const listed: ListedContainer[] = []
  const patches: Record<string, object> = {}
  const next: Record<string, unknown> = {}
  for (const member of ['containers', 'initContainers']) {
    const present = (spec[member] ?? []) as readonly (EnvContainer & { readonly env?: readonly EnvVar[] })[]
    const memberPatches: object[] = []
    next[member] = present.map((container) => {
      if (!matchesWildcard(pattern, container.name)) return container
      const before = container.env ?? []
      if (!overwrite) checkOverwrites(before, changes)
      const env = changeEnv(before, changes)
      listed.push({ ...container, env })
      const patch = envPatch(before, env)
      if (patch === undefined) return container
      memberPatches.push({ name: container.name, ...patch })
      const { env: _, ...rest } = container
      return env.length === 0 ? rest : { ...container, env }
    })
    if (spec[member] === undefined) delete next[member]
    if (memberPatches.length > 0) patches[member] = memberPatches
  }
  return {
    changed: setAt(object, path, { ...spec, ...next }) as DynamicObject,
    patch: Object.keys(patches).length === 0 ? undefined : setAt({}, path, patches),
    listed,
  }
}

async function variablesFrom(
  from: string,
  keys: readonly string[],
  { session }: Pick<CommandContext, 'session'>,
): Promise<readonly EnvVar[]> {
  const { resource, name, collection } = await resolveOne([from], { session })
  const isSecret = resource.kind === 'Secret'
  if (resource.group !== '' || (!isSecret && resource.kind !== 'ConfigMap'))
    throw new UsageError(`unsupported resource specified in --from: ${fullNameOf(resource, name)}`)
  const present = Object.keys(((await collection.get(name))['data'] ?? {}) as Spec)
  const missing = keys.find((key) => !present.includes(key))
  if (missing !== undefined) throw new CommandError(`key ${missing} not found in ${isSecret ? 'secret' : 'config map'} ${name}`)
  return present
    .filter((key) => keys.length === 0 || keys.includes(key))
    .map((key) => ({ name: envNameOf(key), valueFrom: { [isSecret ? 'secretKeyRef' : 'configMapKeyRef']: { name, key } } }))
}
