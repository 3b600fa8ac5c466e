import { describe, expect, it } from 'vitest'
import { decideLiveness, formatAge } from '../../src/core/runs.ts'
import { makeRun } from '../support/records.ts'

const self = makeRun({ pid: 200, startTime: '9000' })
/** The processes of this machine: start time by pid. */
const startTimeOf = (pid: number) => new Map([[100, '5000']]).get(pid)

describe('a recorded run', () => {
  it.each([
    ['alive where pid and start time are those of a process', {}, 'alive'],
    ['dead where no process has its pid', { pid: 101 }, 'dead'],
    ['dead where its pid was given to a process that started later', { startTime: '4000' }, 'dead'],
    ['dead where its start time was never known', { startTime: '' }, 'dead'],
    ['dead after this machine was started again', { bootId: 'boot-b' }, 'dead'],
    ['dead after this machine was started again, even with the same pid and start', { bootId: '' }, 'dead'],
    ['unknown on another host', { bootId: 'boot-b', host: 'other' }, 'unknown'],
    ['unknown in another pid namespace, where pids mean other processes', { pidNamespace: 'x' }, 'unknown'],
  ])('is %s', (_, parts, expected) => {
    expect(decideLiveness(makeRun(parts), self, startTimeOf)).toBe(expected)
  })

  it('of a container that shares the kernel but not the host name is judged by pid and start time', () => {
    expect(decideLiveness(makeRun({ host: 'container' }), self, startTimeOf)).toBe('alive')
  })
})

describe('an age', () => {
  it.each([
    [-5000, '0 s'],
    [0, '0 s'],
    [1499, '1 s'],
    [119_000, '119 s'],
    [120_000, '2 minutes'],
    [7_199_000, '120 minutes'],
    [7_200_000, '2 hours'],
    [172_800_000, '2 days'],
    [12 * 86_400_000, '12 days'],
  ])('of %i ms is told as %s', (milliseconds, text) => {
    expect(formatAge(milliseconds)).toBe(text)
  })
})
