// A small plot of the last values of one figure.

import { element } from '../dom/element.js'

const maxPoints = 100
const width = 200
const height = 40
const svgNamespace = 'http://www.w3.org/2000/svg'

export class Plot {
  readonly root: HTMLElement
  private readonly line = document.createElementNS(svgNamespace, 'polyline')
  private readonly value = element('output', {}, '…')
  private readonly text: (value: number) => string
  private readonly points: number[] = []

  constructor(title: string, text: (value: number) => string) {
    this.text = text
    const svg = document.createElementNS(svgNamespace, 'svg')
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    svg.setAttribute('preserveAspectRatio', 'none')
    svg.setAttribute('aria-hidden', 'true')
    svg.append(this.line)
    this.root = element('div', { class: 'plot' }, element('span', {}, title), this.value, svg)
  }

  add(value: number): void {
    this.points.push(value)
    if (this.points.length > maxPoints) this.points.shift()
    this.value.textContent = this.text(value)
    const top = Math.max(...this.points, 0)
    const bottom = Math.min(...this.points, top)
    const span = top - bottom
    const y = (point: number): number => (span === 0 ? height / 2 : height - 2 - ((point - bottom) / span) * (height - 4))
    const begin = width - ((this.points.length - 1) * width) / (maxPoints - 1)
    const pairs = this.points.map((point, i) => `${(begin + (i * width) / (maxPoints - 1)).toFixed(1)},${y(point).toFixed(1)}`)
    this.line.setAttribute('points', pairs.join(' '))
  }
}
