// The command check: validates manifests against schemas, CEL rules and admission policies, without a server.

import { parseArgs } from 'node:util'
import { type IdentityName, identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { authenticatedGroup } from '@cluster-apiserver/api/api/user.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import { ObjectStore } from '../../objects/object-store.js'
import { openMemoryStorage } from '../../storage/memory/memory-storage.js'
import { type CommandOutput, exitCodes, runCommand, stackOf } from '../command-process.js'
import { ObjectCheck } from './check-objects.js'
import { filesOf, readManifests } from './read-manifests.js'
import { type CheckResult, failuresOf, type OutputFormat, outputFormats, renderResult } from './render-result.js'

const usage = `usage: cluster-apiserver check [--output=text|json|junit] [--trace] <file or folder or ->…

Validates objects as a server does: unknown fields and wrong types, the rules of their kinds, schemas and CEL rules of the
CustomResourceDefinitions among them, and the ValidatingAdmissionPolicies among them that have a binding. Files are YAML, with any
number of documents, or JSON; of folders, files that end in .yaml, .yml or .json are read; - is standard input.

  --identity=<name>   domain of API groups in the files: cluster (default) or kubernetes
  --output=<format>   text (default), json, or junit for CI servers
  --trace             print the values of the parts of a failed expression
  --quiet             print findings only, without costs of expressions and summary
  --namespace=<name>  namespace of objects without one (default: default)
  --as=<user>         user for policies that read request.userInfo; --as-group=<group>, repeatable, for its groups

Exit codes: 0 no failures, 1 failures found, 2 invalid command line.
`

const options = {
  identity: { type: 'string', default: 'cluster' },
  output: { type: 'string', default: 'text' },
  trace: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
  namespace: { type: 'string', default: 'default' },
  as: { type: 'string', default: 'admin' },
  'as-group': { type: 'string', multiple: true, default: [] as string[] },
} as const

export function runCheckCommand(args: readonly string[], output: CommandOutput): Promise<number> {
  const run = async (options: CheckOptions): Promise<number> => {
    const result = await checkFiles(options)
    output.print(renderResult(result, { format: options.output, isQuiet: options.isQuiet }))
    return failuresOf(result).length === 0 ? exitCodes.success : exitCodes.failure
  }
  return runCommand({ name: 'check', usage, read: readArguments, run, explain: stackOf }, args, output)
}

interface CheckOptions {
  readonly files: readonly string[]
  readonly identity: IdentityName
  readonly output: OutputFormat
  readonly isQuiet: boolean
  readonly wantsTrace: boolean
  readonly namespace: string
  readonly user: string
  readonly groups: readonly string[]
}

function readArguments(args: readonly string[]): CheckOptions {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const identity = identityNames.find((name) => name === values.identity)
  const output = outputFormats.find((format) => format === values.output)
  if (identity === undefined) throw new Error(`--identity must be one of ${identityNames.join(', ')}`)
  if (output === undefined) throw new Error(`--output must be one of ${outputFormats.join(', ')}`)
  if (positionals.length === 0) throw new Error('no file is given')
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

async function checkFiles({ files, identity, wantsTrace, namespace, user, groups }: CheckOptions): Promise<CheckResult> {
  const startedMs = performance.now()
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
      seconds: (performance.now() - startedMs) / 1000,
    }
  } finally {
    store.close()
    await storage.close()
  }
}
