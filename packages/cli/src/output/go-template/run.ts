// Execution of parsed Go templates.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import { Float, goText } from '../go-text.js'
import { CallError, functions, isTrue } from './functions.js'
import type { Node, Operand, ParsedTemplate, Pipe } from './parse.js'
import { templateFailure } from './tokens.js'

/** Limit of nested template calls, for recursive templates. */
const maxTemplateDepth = 500

interface FillOptions {
  readonly allowsMissing: boolean
}

export function fillGoTemplate({ main, definitions }: ParsedTemplate, object: unknown, options: FillOptions): string {
  const run = new Run(definitions, options)
  run.template(main, object)
  return run.text
}

interface Variable {
  readonly name: string
  value: unknown
}

class Run {
  private readonly definitions: ReadonlyMap<string, readonly Node[]>
  private readonly options: FillOptions
  private variables: Variable[] = []
  private depth = 0
  text = ''

  constructor(definitions: ReadonlyMap<string, readonly Node[]>, options: FillOptions) {
    this.definitions = definitions
    this.options = options
  }

  template(nodes: readonly Node[], dot: unknown): void {
    const outer = this.variables
    this.variables = [{ name: '$', value: dot }]
    this.nodes(nodes, dot)
    this.variables = outer
  }

  private nodes(nodes: readonly Node[], dot: unknown): 'break' | 'continue' | undefined {
    for (const node of nodes) {
      const jump = this.node(node, dot)
      if (jump !== undefined) return jump
    }
    return undefined
  }

  private node(node: Node, dot: unknown): 'break' | 'continue' | undefined {
    switch (node.kind) {
      case 'text':
        this.text += node.text
        return undefined
      case 'show': {
        const value = this.pipe(node.pipe, dot)
        if (node.pipe.variables.length === 0) this.text += valueText(value)
        return undefined
      }
      case 'if':
      case 'with': {
        const variableCount = this.variables.length
        const value = this.pipe(node.pipe, dot)
        const jump = isTrue(value) ? this.nodes(node.body, node.kind === 'with' ? value : dot) : this.nodes(node.elseBody, dot)
        this.variables.length = variableCount
        return jump
      }
      case 'range':
        return this.range(node, dot)
      case 'template': {
        const nodes = this.definitions.get(node.name)
        if (nodes === undefined) throw templateFailure(node.line, `template ${JSON.stringify(node.name)} not defined`)
        if (++this.depth > maxTemplateDepth) throw templateFailure(node.line, 'exceeded maximum template depth')
        this.template(nodes, node.pipe === undefined ? undefined : this.pipe(node.pipe, dot))
        this.depth--
        return undefined
      }
      default:
        return node.kind
    }
  }

  private range(
    { pipe, body, elseBody }: Extract<Node, { kind: 'if' | 'with' | 'range' }>,
    dot: unknown,
  ): 'break' | 'continue' | undefined {
    const variableCount = this.variables.length
    const value = this.pipe({ ...pipe, variables: [] }, dot)
    const entries = entriesOf(value, pipe.line)
    if (entries.length === 0) return this.nodes(elseBody, dot)
    for (const [key, item] of entries) {
      const values = pipe.variables.length === 2 ? [key, item] : [item]
      for (const [i, name] of pipe.variables.entries()) this.set(name, values[i], pipe.isAssignment)
      const jump = this.nodes(body, item)
      this.variables.length = variableCount
      if (jump === 'break') break
    }
    return undefined
  }

  private set(name: string, value: unknown, isAssignment: boolean): void {
    const existing = isAssignment ? this.variables.findLast((variable) => variable.name === name) : undefined
    if (existing === undefined) this.variables.push({ name, value })
    else existing.value = value
  }

  private pipe({ commands, variables, isAssignment, line }: Pipe, dot: unknown): unknown {
    let value: unknown
    for (const [i, command] of commands.entries()) value = this.command(command, dot, i === 0 ? [] : [value], line)
    for (const name of variables) this.set(name, value, isAssignment)
    return value
  }

  /** `piped`: the value of the previous command of the pipe, if any. */
  private command([first, ...rest]: readonly Operand[], dot: unknown, piped: readonly unknown[], line: number): unknown {
    if (first?.kind === 'function') return this.call(first.name, rest, dot, piped, line)
    if (first === undefined || first.kind === 'nil') throw templateFailure(line, 'nil is not a command')
    if (rest.length + piped.length > 0) throw templateFailure(line, "can't give argument to non-function")
    return this.operand(first, dot, line)
  }

  private call(name: string, operands: readonly Operand[], dot: unknown, piped: readonly unknown[], line: number): unknown {
    if (name === 'and' || name === 'or') {
      if (operands.length + piped.length === 0) throw templateFailure(line, `wrong number of args for ${name}: want at least 1 got 0`)
      let value: unknown
      for (const read of [...operands.map((operand) => () => this.operand(operand, dot, line)), ...piped.map((value) => () => value)]) {
        value = read()
        if (isTrue(value) === (name === 'or')) return value
      }
      return value
    }
    const { minArgs, maxArgs = Number.POSITIVE_INFINITY, call } = functions[name] as (typeof functions)[string]
    const values = [...operands.map((operand) => this.operand(operand, dot, line)), ...piped]
    if (values.length < minArgs || values.length > maxArgs)
      throw templateFailure(
        line,
        `wrong number of args for ${name}: want ${minArgs === maxArgs ? minArgs : `at least ${minArgs}`} got ${values.length}`,
      )
    try {
      return call(...values)
    } catch (thrown) {
      if (thrown instanceof CallError) throw templateFailure(line, `error calling ${name}: ${thrown.message}`)
      throw thrown
    }
  }

  private operand(operand: Operand, dot: unknown, line: number): unknown {
    switch (operand.kind) {
      case 'value':
        return operand.value
      case 'nil':
        return undefined
      case 'dot':
        return dot
      case 'variable':
        return this.variables.findLast(({ name }) => name === operand.name)?.value
      case 'function':
        return this.call(operand.name, [], dot, [], line)
      case 'pipe':
        return this.pipe(operand.pipe, dot)
      case 'chain':
        return operand.fields.reduce((value, field) => this.field(value, field, line), this.operand(operand.from, dot, line))
    }
  }

  private field(value: unknown, field: string, line: number): unknown {
    if (isRecord(value) && !(value instanceof Float)) {
      if (Object.hasOwn(value, field)) return value[field]
      if (this.options.allowsMissing) return undefined
      throw templateFailure(line, `map has no entry for key ${JSON.stringify(field)}`)
    }
    if (value === undefined || value === null) {
      if (this.options.allowsMissing) return undefined
      throw templateFailure(line, `nil data; no entry for key ${JSON.stringify(field)}`)
    }
    throw templateFailure(line, `can't evaluate field ${field} in type interface {}`)
  }
}

const valueText = (value: unknown): string => (value === undefined || value === null ? '<no value>' : goText(value))

function entriesOf(value: unknown, line: number): readonly (readonly [unknown, unknown])[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return [...value.entries()]
  if (typeof value === 'object' && !(value instanceof Float)) return Object.entries(value).sort(([a], [b]) => compareText(a, b))
  throw templateFailure(line, `range can't iterate over ${valueText(value)}`)
}
