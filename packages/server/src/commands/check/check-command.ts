// `cluster-apiserver check FILE…`: manifests, definitions, policies and objects are held against all rules, without a server.

import { parseArgs } from 'node:util'
import { type IdentityName, identityNames, identityOf } from '../../api/identity.js'
import { authenticatedGroup } from '../../api/user.js'
import { systemClock } from '../../base/clock.js'
import { printable } from '../../base/printable.js'
import { ObjectStore } from '../../objects/object-store.js'
import { openMemoryStorage } from '../../storage/memory.js'
import { ObjectCheck } from './check-objects.js'
import { type CheckResult, failuresOf } from './findings.js'
import { filesOf, readManifests } from './read-manifests.js'
import { type OutputForm, outputForms, renderResult } from './render-result.js'

export interface CheckSurroundings {
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const usage = `usage: cluster-apiserver check [--output=text|json|junit] [--trace] <file or folder or ->…

Holds objects against everything that a server would refuse them for: fields that are unknown or of another type, the rules of their kinds,
schemas and expressions of the definitions among them, and the policies among them that a binding puts into force. Files are YAML, with any
number of documents, or JSON; of folders those are read that end in .yaml, .yml or .json, and - is the standard input.

  --identity=<name>   whose names the files use: cluster, or kubernetes; cluster if left out
  --output=<form>     text for people, json for programs, junit for servers that build; text if left out
  --trace             what the parts of an expression gave that did not hold
  --quiet             findings alone, in text: neither costs of expressions nor a summary
  --namespace=<name>  where objects are that do not say so; default if left out
  --as=<user>         for policies that ask who wrote; --as-group=<group>, repeatable, for the groups of that user

The exit code is 0 where nothing is wrong, 1 where something is, and 2 where the command line is wrong.
`

const options = {
  identity: { type: 'string', default: 'cluster' },
  output: { type: 'string', default: 'text' },
  trace: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  namespace: { type: 'string', default: 'default' },
  as: { type: 'string', default: 'admin' },
  'as-group': { type: 'string', multiple: true, default: [] as string[] },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** Answers the exit code. */
export async function runCheckCommand(args: readonly string[], { print, complain }: CheckSurroundings): Promise<number> {
  let chosen: Chosen | 'help'
  try {
    chosen = choose(args)
  } catch (thrown) {
    complain(`cluster-apiserver check: ${printable(thrown instanceof Error ? thrown.message : String(thrown))}\n\n${usage}`)
    return 2
  }
  if (chosen === 'help') {
    print(usage)
    return 0
  }
  const result = await checkFiles(chosen)
  print(renderResult(result, { form: chosen.output, isQuiet: chosen.isQuiet }))
  return failuresOf(result).length === 0 ? 0 : 1
}

export interface Chosen {
  readonly files: readonly string[]
  readonly identity: IdentityName
  readonly output: OutputForm
  readonly isQuiet: boolean
  readonly wantsTrace: boolean
  readonly namespace: string
  readonly user: string
  readonly groups: readonly string[]
}

/** Throws where the command line is wrong, or names what cannot be read. */
function choose(args: readonly string[]): Chosen | 'help' {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  if (values.help) return 'help'
  const identity = identityNames.find((name) => name === values.identity)
  const output = outputForms.find((form) => form === values.output)
  if (identity === undefined) throw new Error(`--identity must be one of ${identityNames.join(', ')}`)
  if (output === undefined) throw new Error(`--output must be one of ${outputForms.join(', ')}`)
  if (positionals.length === 0) throw new Error('no file was named')
  return {
    files: filesOf(positionals),
    identity,
    output,
    isQuiet: values.quiet,
    wantsTrace: values.trace,
    namespace: values.namespace,
    user: values.as,
    groups: values['as-group'],
  }
}

export async function checkFiles({ files, identity, wantsTrace, namespace, user, groups }: Chosen): Promise<CheckResult> {
  const begunMs = performance.now()
  const storage = await openMemoryStorage({ clock: systemClock })
  const store = new ObjectStore({ storage, clock: systemClock, readCacheBytes: 1 << 20, eventTtlSeconds: 3600 })
  try {
    const check = new ObjectCheck({
      identity: identityOf(identity),
      store,
      now: systemClock.now(),
      namespace,
      user: { name: user, uid: '', groups: [...groups, authenticatedGroup], extra: {} },
      wantsTrace,
    })
    const manifests = files.flatMap((file) => {
      const read = readManifests(file)
      check.findings.push(...read.findings)
      return read.manifests
    })
    await check.check(manifests)
    return {
      files: files.length,
      objects: check.objects,
      findings: check.findings,
      expressions: check.expressions.all(),
      seconds: (performance.now() - begunMs) / 1000,
    }
  } finally {
    store.close()
    await storage.close()
  }
}
