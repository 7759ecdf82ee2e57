// Makes objects what files say, on the server's side: each field has an owner, and who would take one from another is told so.

import { isForbidden } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { applyObject } from '../apply-object.js'
import { defineCommand } from '../command.js'
import { waitUntilServed } from '../definitions.js'
import { forEach } from '../each.js'
import { Failure } from '../failure.js'
import { UsageError } from '../flags.js'
import { dryRunOf, type Result, tellResults, writeFlags } from '../results.js'
import { fileFlags, readFiled } from '../targets.js'

/** What was there before, where nobody tells us. */
const unknown: DynamicObject = {}

export const command = defineCommand({
  usage: 'apply -f FILE [flags]',
  about: 'make objects what files say',
  examples: [
    'apply -f shop/',
    'apply -f - --dry-run=server -o yaml',
    'apply -f shop/ --prune -l app=shop',
    'apply -f prices.yaml --force-conflicts',
  ],
  flags: {
    ...fileFlags,
    ...writeFlags,
    'server-side': { kind: 'switch', help: 'it always is' },
    'force-conflicts': { kind: 'switch', help: 'take over fields that others own' },
    validate: { kind: 'text', bare: 'true', initial: 'true', help: 'true or strict: unknown fields are refused; warn; false or ignore' },
    prune: { kind: 'switch', help: 'delete what was applied before under the same selector and is in no file any more' },
    selector: { kind: 'text', short: 'l', help: 'only what has these labels in the files; with --prune: and only such may be deleted' },
    all: { kind: 'switch', help: 'with --prune: everything that was applied before may be deleted' },
    'prune-allowlist': { kind: 'texts', help: 'with --prune: further kinds, as group/version/Kind' },
  },
  takesNoWords: true,
  run: async (work) => {
    const { flags, io } = work
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    if (flags.prune && flags.selector === undefined && !flags.all)
      throw new UsageError('all resources selected for prune without explicitly passing --all; -l says which')
    const dryRun = dryRunOf(flags['dry-run'])
    const filed = await readFiled(flags, work)
    if (filed.length === 0) throw new Failure('no objects passed to apply')
    const manager = flags['field-manager'] ?? 'clusterctl'
    const options = {
      fieldManager: manager,
      force: flags['force-conflicts'],
      dryRun: dryRun === 'server',
      fieldValidation: validationOf(flags.validate),
    }
    const results: Result[] = []
    const code = await forEach(
      filed,
      io,
      async (one) => {
        // Only to say what was done: whoever may not read may apply all the same.
        const before = await one.collection.find(one.name).catch((thrown: unknown) => {
          if (isForbidden(thrown)) return unknown
          throw thrown
        })
        const object = dryRun === 'client' ? one.object : await applyObject(one, options)
        const what =
          before === unknown
            ? 'serverside-applied'
            : before === undefined
              ? 'created'
              : before.metadata?.resourceVersion === object.metadata?.resourceVersion || dryRun === 'client'
                ? 'unchanged'
                : 'configured'
        results.push({
          resource: one.resource,
          name: one.name,
          what: dryRun === 'client' && before !== undefined && before !== unknown ? 'configured' : what,
          object,
        })
        if (dryRun === 'none') await waitUntilServed(one, work)
      },
      'applying',
    )
    tellResults(results, flags, io)
    if (flags.prune && code === 0) {
      const { prune } = await import('../prune.js')
      await prune({ filed, manager, selector: flags.selector, allowed: flags['prune-allowlist'], dryRun }, work)
    }
    return code
  },
})

export function validationOf(text: string | undefined): 'Strict' | 'Warn' | 'Ignore' {
  if (text === undefined || text === 'true' || text === 'strict') return 'Strict'
  if (text === 'warn') return 'Warn'
  if (text === 'false' || text === 'ignore') return 'Ignore'
  throw new UsageError(`invalid --validate option "${text}"; must be one of: strict (or true), warn, ignore (or false)`)
}
