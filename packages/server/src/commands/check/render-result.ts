// Renders the result of a check as text, JSON or JUnit XML.

import { escapeTerminalControls, escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'

export const outputFormats = ['text', 'json', 'junit'] as const
export type OutputFormat = (typeof outputFormats)[number]

interface RenderOptions {
  readonly format: OutputFormat
  readonly isQuiet: boolean
}

export function renderResult(result: CheckResult, { format, isQuiet }: RenderOptions): string {
  if (format === 'json') return renderJson(result)
  // Names and values come from untrusted files.
  return format === 'junit' ? renderJunit(result) : escapeTerminalControls(renderText(result, isQuiet))
}

function renderText(result: CheckResult, isQuiet: boolean): string {
  const lines = result.findings.flatMap(renderFinding)
  if (isQuiet) return lines.map((line) => `${line}\n`).join('')
  if (result.expressions.length > 0) lines.push('expressions: estimated maximum cost, measured maximum cost, evaluations that were true')
  lines.push(...result.expressions.map(renderCost))
  lines.push(summaryOf(result))
  return lines.map((line) => `${line}\n`).join('')
}

function renderFinding({ severity, file, line, object, field, message, trace = [] }: Finding): readonly string[] {
  const objectText = object === '' ? '' : ` ${object}:`
  const fieldText = field === '' ? '' : ` ${field}:`
  const severityText = severity === 'warning' ? ' warning:' : ''
  return [
    `${escapeTerminalLine(file)}:${line}:${escapeTerminalLine(objectText)}${severityText}${escapeTerminalLine(fieldText)} ${message}`,
    ...trace.map(({ text, value }) => `    ${text} = ${value}`),
  ]
}

const renderCost = ({ file, line, text, estimated, actual, asked, failed }: ExpressionCost): string =>
  `  ${file}:${line}: ${estimated ?? 'unbounded'} ${asked === 0 ? '-' : actual} ${asked - failed}/${asked} ${text.replaceAll(/\s+/g, ' ')}`

function summaryOf(result: CheckResult): string {
  const failures = failuresOf(result).length
  const warnings = result.findings.length - failures
  const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
  const found = warnings === 0 ? count(failures, 'failure') : `${count(failures, 'failure')}, ${count(warnings, 'warning')}`
  return `${found} in ${count(result.objects.length, 'object')} of ${count(result.files, 'file')}, ${result.seconds.toFixed(2)} s`
}

function renderJson({ files, objects, findings, expressions, seconds }: CheckResult): string {
  const failures = failuresOf({ findings }).length
  const document = {
    summary: { files, objects: objects.length, failures, warnings: findings.length - failures, seconds },
    findings,
    expressions: expressions.map((expression) => ({
      ...expression,
      estimated: expression.estimated === undefined ? null : Number(expression.estimated),
    })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** One suite per file and one case per object. */
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

const entities: { readonly [char: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Drops characters that XML does not allow. */
const xmlText = (text: string): string =>
  text.replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '').replaceAll(/[&<>"]/g, (char) => entities[char] ?? char)

export interface Finding {
  readonly severity: 'failure' | 'warning'
  readonly file: string
  readonly line: number
  readonly objectLine: number
  readonly object: string
  readonly field: string
  readonly message: string
  readonly trace?: readonly TracedPart[]
}

export interface TracedPart {
  readonly text: string
  readonly value: string
}

export interface ExpressionCost {
  readonly file: string
  readonly line: number
  readonly object: string
  readonly field: string
  readonly text: string
  /** Undefined if unbounded. */
  readonly estimated: bigint | undefined
  /** Number of evaluations; the JSON output has this name. */
  readonly asked: number
  readonly failed: number
  readonly actual: number
}

export interface CheckedObject {
  readonly file: string
  readonly line: number
  readonly object: string
}

export interface CheckResult {
  readonly files: number
  readonly objects: readonly CheckedObject[]
  readonly findings: readonly Finding[]
  readonly expressions: readonly ExpressionCost[]
  readonly seconds: number
}

export const failuresOf = ({ findings }: Pick<CheckResult, 'findings'>): readonly Finding[] =>
  findings.filter(({ severity }) => severity === 'failure')
