// `diff`: shows what apply would change. Exit code 1 on differences, above 1 on failure.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { applyObject } from '../../objects/apply-object.js'
import { fullNameOf, type NamedObject } from '../../objects/named-object.js'
import { fileFlags, readManifestObjects, selectFlags } from '../../objects/object-arguments.js'
import { withoutManagedFields, yamlText } from '../../output/documents.js'

export const command = defineCommand({
  usage: 'diff -f FILE [flags]',
  examples: ['diff -f shop/', 'diff -f shop/ --prune -l app=shop'],
  flags: {
    ...fileFlags,
    selector: selectFlags.selector,
    'field-manager': { kind: 'text', initial: 'clusterctl', help: 'field manager of the apply' },
    'force-conflicts': { kind: 'switch', help: 'ignore conflicts with other managers' },
    'server-side': { kind: 'switch', help: 'accepted for compatibility; always on' },
    'show-managed-fields': { kind: 'switch', help: 'show metadata.managedFields' },
    prune: { kind: 'switch', help: 'show objects that --prune would delete' },
    'prune-allowlist': { kind: 'texts', help: 'with --prune: more kinds, as group/version/Kind' },
  },
  takesNoArguments: true,
  failureCode: 2,
  run: async (context) => {
    const { flags, session } = context
    if (flags.filename.length === 0) throw new UsageError('must specify -f')
    const show = (object: DynamicObject | undefined): string =>
      object === undefined ? '' : yamlText(flags['show-managed-fields'] ? object : withoutManagedFields(object))
    const compared: (Compared & { readonly title: string })[] = []
    const compare = (target: NamedObject, live: DynamicObject | undefined, merged: DynamicObject | undefined): void => {
      const [before, after] = [show(live), show(merged)]
      if (before !== after) compared.push({ file: fileOf(target), title: titleOf(target), live: before, merged: after })
    }
    const manager = flags['field-manager'] ?? ''
    const objects = await readManifestObjects(flags, context)
    for (const target of objects) {
      const live = await target.collection.find(target.name)
      compare(target, live, await applyObject(target, { fieldManager: manager, force: flags['force-conflicts'], dryRun: true }))
    }
    if (flags.prune) {
      const { prunable } = await import('../../objects/prune.js')
      for await (const target of prunable({ objects, manager, selector: flags.selector, allowed: flags['prune-allowlist'] }, session))
        compare(target, await target.collection.find(target.name), undefined)
    }
    if (compared.length === 0) return 0
    return showDifferences(compared, context)
  },
})

async function showDifferences(
  compared: readonly (Compared & { readonly title: string })[],
  { io }: Pick<CommandContext, 'io'>,
): Promise<number> {
  const program = process.env['KUBECTL_EXTERNAL_DIFF'] || undefined
  if (program !== undefined) {
    const { text, errors, code } = runExternalDiff(program, compared)
    io.raw(text)
    if (errors !== '') io.err(errors)
    return code
  }
  for (const { title, live, merged } of compared) {
    const text = unifiedDiff(live, merged, [`live/${title}`, `merged/${title}`])
    io.out(
      text.replaceAll(/^[-+@].*$/gm, (line) =>
        line.startsWith('+') ? io.style.green(line) : line.startsWith('-') ? io.style.red(line) : io.style.cyan(line),
      ),
    )
  }
  return 1
}

const titleOf = ({ collection, resource, name }: NamedObject): string =>
  `${collection.namespace === undefined ? '' : `${collection.namespace}/`}${fullNameOf(resource, name)}`

const fileOf = ({ collection, resource, name }: NamedObject): string =>
  [resource.group, resource.version, resource.kind, collection.namespace ?? '', name]
    .filter((word, i) => word !== '' || i > 0)
    .join('.')
    .replaceAll('/', '-')

interface Compared {
  readonly file: string
  readonly live: string
  readonly merged: string
}

/** Allowed words of KUBECTL_EXTERNAL_DIFF, as in kubectl; words with other characters are ignored. */
const allowedWord = /^[a-zA-Z0-9_\-=./]+$/

/** Runs KUBECTL_EXTERNAL_DIFF on two folders. Exit code 1 means differences. */
function runExternalDiff(
  command: string,
  compared: readonly Compared[],
): { readonly text: string; readonly errors: string; readonly code: number } {
  const [program = '', ...args] = command.split(/\s+/).filter((word) => allowedWord.test(word))
  const folder = mkdtempSync(join(tmpdir(), 'clusterctl-diff-'))
  try {
    const folders = ['LIVE', 'MERGED'].map((name) => join(folder, name)) as [string, string]
    for (const path of folders) mkdirSync(path)
    for (const { file, live, merged } of compared) {
      // A missing object has no file.
      if (live !== '') writeFileSync(join(folders[0], file), live)
      if (merged !== '') writeFileSync(join(folders[1], file), merged)
    }
    const { status, stdout, stderr, error } = spawnSync(program, [...args, ...folders], { encoding: 'utf8', maxBuffer: 1 << 30 })
    if (error !== undefined) throw new CommandError(`failed to run "${program}": ${error.message}`)
    return { text: stdout, errors: stderr, code: status ?? 2 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** If one of the texts has more lines, all lines count as changed: the algorithm is quadratic. */
const maxLines = 4000
const contextLines = 3

export function unifiedDiff(before: string, after: string, names: readonly [string, string]): string {
  if (before === after) return ''
  const lines = compareLines(linesOf(before), linesOf(after))
  const changed = lines.flatMap(({ sign }, i) => (sign === ' ' ? [] : [i]))
  let text = `--- ${names[0]}\n+++ ${names[1]}\n`
  for (let start = 0; start < changed.length; ) {
    let end = start
    while (end + 1 < changed.length && (changed[end + 1] as number) - (changed[end] as number) <= 2 * contextLines) end++
    text += hunk(
      lines,
      Math.max(0, (changed[start] as number) - contextLines),
      Math.min(lines.length, (changed[end] as number) + contextLines + 1),
    )
    start = end + 1
  }
  return text
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function hunk(lines: readonly Line[], from: number, to: number): string {
  const count = (part: readonly Line[], other: '-' | '+'): number => part.filter(({ sign }) => sign !== other).length
  const [before, inside] = [lines.slice(0, from), lines.slice(from, to)]
  const lineRange = (other: '-' | '+'): string => {
    const length = count(inside, other)
    return `${count(before, other) + (length === 0 ? 0 : 1)},${length}`
  }
  return `@@ -${lineRange('+')} +${lineRange('-')} @@\n${inside.map(({ sign, text }) => `${sign}${text}\n`).join('')}`
}

function compareLines(a: readonly string[], b: readonly string[]): readonly Line[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let tail = 0
  while (tail < a.length - start && tail < b.length - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: ' ', text }))
  const middle = diffMiddle(a.slice(start, a.length - tail), b.slice(start, b.length - tail))
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - tail))]
}

function diffMiddle(a: readonly string[], b: readonly string[]): readonly Line[] {
  const removed = (text: string): Line => ({ sign: '-', text })
  const added = (text: string): Line => ({ sign: '+', text })
  if (a.length === 0 || b.length === 0 || a.length > maxLines || b.length > maxLines) return [...a.map(removed), ...b.map(added)]
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      (lengths[i] as Uint16Array)[j] = a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i] as string })
      i++
      j++
    } else if (j >= b.length || (i < a.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) lines.push(removed(a[i++] as string))
    else lines.push(added(b[j++] as string))
  }
  return lines
}
