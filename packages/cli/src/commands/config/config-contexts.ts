// `config` commands for contexts: get-contexts, current-context, use-context, set-context, rename-context.

import { loadConfig } from '@cluster-apiserver/client/node/load-kubeconfig.js'
import { defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { changeDocument, changedFile, entryOf, fileWith, withEntry } from './kubeconfig-file.js'

export const getContexts = defineCommand({
  usage: 'config get-contexts [NAME]',
  flags: {
    output: { kind: 'text', short: 'o', help: 'name' },
    'no-headers': { kind: 'switch', help: 'omit the header' },
  },
  run: async ({ args, flags, io }) => {
    if (flags.output !== undefined && flags.output !== '' && flags.output !== 'name')
      throw new UsageError(`--output ${flags.output} is not available; use name`)
    const { contexts, currentContext } = loadConfig({ file: flags.kubeconfig })
    const missing = args.find((name) => !contexts.has(name))
    if (missing !== undefined) throw new CommandError(`context ${missing} not found`)
    const selected = [...contexts].filter(([name]) => args.length === 0 || args.includes(name))
    if (flags.output === 'name') io.out(selected.map(([name]) => `${name}\n`).join(''))
    else {
      const rows = selected.map(([name, { cluster = '', user = '', namespace = '' }]) => [
        name === currentContext ? '*' : '',
        name,
        cluster,
        user,
        namespace,
      ])
      io.out(
        alignRows([
          ...(flags['no-headers'] ? [] : [headerRow(['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'], io.style)]),
          ...rows,
        ]),
      )
    }
    return 0
  },
})

export const currentContext = defineCommand({
  usage: 'config current-context',
  flags: {},
  run: async ({ flags, io }) => {
    const { currentContext: name } = loadConfig({ file: flags.kubeconfig })
    if (name === '') throw new CommandError('current-context is not set; use "clusterctl config use-context NAME"')
    io.out(`${name}\n`)
    return 0
  },
})

export const useContext = defineCommand({
  usage: 'config use-context NAME',
  flags: {},
  run: async ({ args, flags, io }) => {
    const [name, ...extraArgs] = args
    if (name === undefined || extraArgs.length > 0) throw new UsageError('exactly one context NAME is required')
    const contexts = loadConfig({ file: flags.kubeconfig }).contexts
    if (!contexts.has(name))
      throw new CommandError(`no context exists with the name: "${name}"; contexts: ${[...contexts.keys()].join(', ') || 'none'}`)
    await changeDocument(changedFile(flags.kubeconfig), (document) => ({ ...document, 'current-context': name }))
    io.out(`Switched to context "${name}".\n`)
    return 0
  },
})

export const setContext = defineCommand({
  usage: 'config set-context (NAME | --current) [--cluster=…] [--user=…] [--namespace=…]',
  flags: { current: { kind: 'switch', help: 'change the current context' } },
  run: async ({ args, flags, io }) => {
    if (flags.current && args.length > 0) throw new UsageError('you cannot specify both a context name and --current')
    const name = flags.current ? loadConfig({ file: flags.kubeconfig }).currentContext : args[0]
    if (name === undefined || args.length > 1) throw new UsageError('you must specify a non-empty context name or --current')
    if (name === '') throw new CommandError('no current context is set')
    const { cluster, user, namespace } = flags
    let isNew = false
    await changeDocument(fileWith(flags.kubeconfig, 'contexts', name), (document) => {
      const existing = entryOf(document, 'contexts', name)
      isNew = existing === undefined
      const entry = {
        ...existing,
        ...(cluster === undefined ? {} : { cluster }),
        ...(user === undefined ? {} : { user }),
        ...(namespace === undefined ? {} : { namespace }),
      }
      return withEntry(document, 'contexts', name, entry)
    })
    io.out(`Context "${name}" ${isNew ? 'created' : 'modified'}.\n`)
    return 0
  },
})

export const renameContext = defineCommand({
  usage: 'config rename-context OLD NEW',
  flags: {},
  run: async ({ args, flags, io }) => {
    const [old, next, ...extraArgs] = args
    if (old === undefined || next === undefined || extraArgs.length > 0) throw new UsageError('OLD and NEW context names are required')
    const file = fileWith(flags.kubeconfig, 'contexts', old)
    const { contexts, currentContext: current } = loadConfig({ file: flags.kubeconfig })
    if (!contexts.has(old)) throw new CommandError(`cannot rename the context "${old}", it's not in ${file}`)
    if (contexts.has(next)) throw new CommandError(`cannot rename the context "${old}", the context "${next}" already exists in ${file}`)
    await changeDocument(file, (document) => {
      const entry = entryOf(document, 'contexts', old)
      if (entry === undefined) throw new CommandError(`cannot rename the context "${old}", it's not in ${file}`)
      return withEntry(withEntry(document, 'contexts', old, undefined), 'contexts', next, entry)
    })
    if (current === old) {
      const currentFile = changedFile(flags.kubeconfig, (document) => document['current-context'] === old)
      await changeDocument(currentFile, (document) => ({ ...document, 'current-context': next }))
    }
    io.out(`Context "${old}" renamed to "${next}".\n`)
    return 0
  },
})
