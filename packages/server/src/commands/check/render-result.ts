// What a check found, for people, for programs and for servers that build.

import { printable, printableLine } from '../../base/printable.js'
import { type CheckResult, type ExpressionCost, type Finding, failuresOf } from './findings.js'

export const outputForms = ['text', 'json', 'junit'] as const
export type OutputForm = (typeof outputForms)[number]

export interface Rendering {
  readonly form: OutputForm
  /** Findings alone. */
  readonly isQuiet: boolean
}

export function renderResult(result: CheckResult, { form, isQuiet }: Rendering): string {
  if (form === 'json') return renderJson(result)
  // Names and values are those of files that somebody else may have written.
  return form === 'junit' ? renderJunit(result) : printable(renderText(result, isQuiet))
}

function renderText(result: CheckResult, isQuiet: boolean): string {
  const lines = result.findings.flatMap(renderFinding)
  if (isQuiet) return lines.map((line) => `${line}\n`).join('')
  if (result.expressions.length > 0)
    lines.push('expressions: what they can cost at worst, what they did cost at most, and how often they held')
  lines.push(...result.expressions.map(renderCost))
  lines.push(summaryOf(result))
  return lines.map((line) => `${line}\n`).join('')
}

function renderFinding({ severity, file, line, object, field, message, trace = [] }: Finding): readonly string[] {
  const what = object === '' ? '' : ` ${object}:`
  const where = field === '' ? '' : ` ${field}:`
  const word = severity === 'warning' ? ' warning:' : ''
  return [
    `${printableLine(file)}:${line}:${printableLine(what)}${word}${printableLine(where)} ${message}`,
    ...trace.map(({ text, value }) => `    ${text} = ${value}`),
  ]
}

const renderCost = ({ file, line, text, estimated, actual, asked, failed }: ExpressionCost): string =>
  `  ${file}:${line}: ${estimated ?? 'unbounded'} ${asked === 0 ? '-' : actual} ${asked - failed}/${asked} ${text.replaceAll(/\s+/g, ' ')}`

function summaryOf(result: CheckResult): string {
  const failures = failuresOf(result).length
  const warnings = result.findings.length - failures
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`
  const found = warnings === 0 ? count(failures, 'failure') : `${count(failures, 'failure')}, ${count(warnings, 'warning')}`
  return `${found} in ${count(result.objects.length, 'object')} of ${count(result.files, 'file')}, ${result.seconds.toFixed(2)} s`
}

function renderJson({ files, objects, findings, expressions, seconds }: CheckResult): string {
  const failures = failuresOf({ findings }).length
  const shown = {
    summary: { files, objects: objects.length, failures, warnings: findings.length - failures, seconds },
    findings,
    expressions: expressions.map((each) => ({ ...each, estimated: each.estimated === undefined ? null : Number(each.estimated) })),
  }
  return `${JSON.stringify(shown, null, 2)}\n`
}

/** A suite for each file and a case for each object; what belongs to no object is a case of its own. */
function renderJunit(result: CheckResult): string {
  const byFile = new Map<string, Map<number, { readonly name: string; readonly failures: Finding[] }>>()
  const caseOf = (file: string, name: string, key: number): Finding[] => {
    const cases = byFile.get(file) ?? new Map<number, { readonly name: string; readonly failures: Finding[] }>()
    byFile.set(file, cases)
    const found = cases.get(key) ?? { name, failures: [] }
    cases.set(key, found)
    return found.failures
  }
  for (const object of result.objects) caseOf(object.file, object.object, object.line)
  for (const finding of failuresOf(result)) caseOf(finding.file, finding.object || `line ${finding.line}`, finding.objectLine).push(finding)
  const suites = Array.from(byFile, ([file, cases]) => {
    const all = [...cases.values()]
    const failed = all.filter(({ failures }) => failures.length > 0).length
    const rows = all.map(({ name, failures }) => renderCase(file, name, failures)).join('')
    return `  <testsuite name="${xmlText(file)}" tests="${all.length}" failures="${failed}">\n${rows}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`
}

function renderCase(file: string, name: string, failures: readonly Finding[]): string {
  const head = `    <testcase classname="${xmlText(file)}" name="${xmlText(name)}"`
  if (failures.length === 0) return `${head}/>\n`
  const rows = failures.map((finding) => {
    const [text = '', ...trace] = renderFinding(finding)
    return `      <failure message="${xmlText(finding.message)}">${xmlText([text, ...trace].join('\n'))}</failure>\n`
  })
  return `${head}>\n${rows.join('')}    </testcase>\n`
}

const entities: { readonly [letter: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Letters that XML does not know are left out. */
const xmlText = (text: string): string =>
  text.replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '').replaceAll(/[&<>"]/g, (letter) => entities[letter] ?? letter)
