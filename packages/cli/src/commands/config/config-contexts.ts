// Contexts of the client configuration: which there are, which one counts, and other ones.

import { loadConfig } from '../../client/node/load-config.js'
import { defineCommand } from '../command.js'
import { changeDocument, changedFile, entryOf, fileWith, withEntry } from '../config-file.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { alignRows, headerRow } from '../output/columns.js'

export const getContexts = defineCommand({
  usage: 'config get-contexts [NAME]',
  about: 'show the contexts of the configuration',
  flags: {
    output: { kind: 'text', short: 'o', help: 'name' },
    'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
  },
  run: async ({ args, flags, io }) => {
    if (flags.output !== undefined && flags.output !== '' && flags.output !== 'name')
      throw new UsageError(`--output ${flags.output} is not available here; the only one is name`)
    const { contexts, currentContext } = loadConfig({ file: flags.kubeconfig })
    const missing = args.find((name) => !contexts.has(name))
    if (missing !== undefined) throw new Failure(`context ${missing} not found`)
    const shown = [...contexts].filter(([name]) => args.length === 0 || args.includes(name))
    if (flags.output === 'name') io.out(shown.map(([name]) => `${name}\n`).join(''))
    else {
      const rows = shown.map(([name, { cluster = '', user = '', namespace = '' }]) => [
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
  about: 'show the context that counts',
  flags: {},
  run: async ({ flags, io }) => {
    const { currentContext: name } = loadConfig({ file: flags.kubeconfig })
    if (name === '') throw new Failure('current-context is not set; "clusterctl config use-context" sets it')
    io.out(`${name}\n`)
    return 0
  },
})

export const useContext = defineCommand({
  usage: 'config use-context NAME',
  about: 'let another context count',
  flags: {},
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name one context')
    const known = loadConfig({ file: flags.kubeconfig }).contexts
    if (!known.has(name))
      throw new Failure(`no context exists with the name: "${name}"; there are ${[...known.keys()].join(', ') || 'none'}`)
    await changeDocument(changedFile(flags.kubeconfig), (document) => ({ ...document, 'current-context': name }))
    io.out(`Switched to context "${name}".\n`)
    return 0
  },
})

export const setContext = defineCommand({
  usage: 'config set-context (NAME | --current) [--cluster=…] [--user=…] [--namespace=…]',
  about: 'make or change a context',
  flags: { current: { kind: 'switch', help: 'the one that counts' } },
  run: async ({ args, flags, io }) => {
    if (flags.current && args.length > 0) throw new UsageError('you cannot specify both a context name and --current')
    const name = flags.current ? loadConfig({ file: flags.kubeconfig }).currentContext : args[0]
    if (name === undefined || args.length > 1) throw new UsageError('you must specify a non-empty context name or --current')
    if (name === '') throw new Failure('no current context is set')
    const { cluster, user, namespace } = flags
    let isNew = false
    await changeDocument(fileWith(flags.kubeconfig, 'contexts', name), (document) => {
      const before = entryOf(document, 'contexts', name)
      isNew = before === undefined
      const entry = {
        ...before,
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
  about: 'give a context another name',
  flags: {},
  run: async ({ args, flags, io }) => {
    const [old, next, ...more] = args
    if (old === undefined || next === undefined || more.length > 0) throw new UsageError('name the context, and its new name')
    const file = fileWith(flags.kubeconfig, 'contexts', old)
    const { contexts, currentContext: current } = loadConfig({ file: flags.kubeconfig })
    if (!contexts.has(old)) throw new Failure(`cannot rename the context "${old}", it's not in ${file}`)
    if (contexts.has(next)) throw new Failure(`cannot rename the context "${old}", the context "${next}" already exists in ${file}`)
    await changeDocument(file, (document) => {
      const entry = entryOf(document, 'contexts', old)
      if (entry === undefined) throw new Failure(`cannot rename the context "${old}", it's not in ${file}`)
      return withEntry(withEntry(document, 'contexts', old, undefined), 'contexts', next, entry)
    })
    // It may stand in another file.
    if (current === old) {
      const place = changedFile(flags.kubeconfig, (document) => document['current-context'] === old)
      await changeDocument(place, (document) => ({ ...document, 'current-context': next }))
    }
    io.out(`Context "${old}" renamed to "${next}".\n`)
    return 0
  },
})
