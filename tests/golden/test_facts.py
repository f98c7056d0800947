#!/usr/bin/env python3
"""What counts as equal in golden tests: every test here shows something that must be noticed, or must not matter."""
import json
import os
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import facts  # noqa: E402

EPOCH_US = 1760000000000000


def event(name="op", ts=EPOCH_US, **more):
    return {"name": name, "ph": "X", "pid": 1, "tid": 2, "ts": str(ts), "dur": 1.5, "args": {}, **more}


class Timeline(unittest.TestCase):
    def differ(self, expected, actual):
        with tempfile.TemporaryDirectory() as folder:
            rows = []
            for number, events in enumerate((expected, actual)):
                path = os.path.join(folder, "%d.json" % number)
                with open(path, "w") as file:
                    json.dump(events, file)
                rows.append(facts.timeline(path))
            return facts.differences("timeline", *rows)

    def test_order_does_not_matter(self):
        a, b = event("a"), event("b")
        self.assertEqual(self.differ([a, b], [b, a]), [])

    def test_a_missing_event_is_noticed(self):
        self.assertEqual(len(self.differ([event("a"), event("b")], [event("a")])), 1)

    def test_an_event_too_often_is_noticed(self):
        self.assertEqual(len(self.differ([event()], [event(), event()])), 1)

    def test_another_name_is_noticed(self):
        self.assertEqual(len(self.differ([event("a")], [event("b")])), 2)

    def test_epoch_times_may_be_a_quarter_microsecond_off(self):
        self.assertEqual(self.differ([event(ts="%d.25" % EPOCH_US)], [event(ts=EPOCH_US)]), [])
        self.assertEqual(len(self.differ([event(ts="%d.5" % EPOCH_US)], [event(ts=EPOCH_US)])), 2)

    def test_durations_may_differ_in_the_third_digit(self):
        self.assertEqual(self.differ([event(dur=1.501)], [event(dur=1.5)]), [])
        self.assertEqual(len(self.differ([event(dur=1.51)], [event(dur=1.5)])), 2)

    def test_whole_numbers_are_exact(self):
        self.assertEqual(len(self.differ([event(args={"Task Id": 7})], [event(args={"Task Id": 8})])), 2)

    def test_connection_ids_only_tie_events_together(self):
        def pair(first, second):
            return [event("host", args={"connection_id": first}), event("task", EPOCH_US + 9, args={"connection_id": second})]

        self.assertEqual(self.differ(pair(3, 3), pair(8, 8)), [])
        self.assertNotEqual(self.differ(pair(3, 3), pair(8, 9)), [])

    def test_a_flow_that_ends_elsewhere_is_noticed(self):
        def flows(*ids):
            return [event(ph="s", id=ids[0], cat="f"), event(ph="s", id=ids[1], cat="f", ts=EPOCH_US + 5),
                    event(ph="f", id=ids[2], cat="f", ts=EPOCH_US + 9)]

        self.assertEqual(self.differ(flows(1, 2, 1), flows(7, 8, 7)), [])
        self.assertNotEqual(self.differ(flows(1, 2, 1), flows(1, 2, 2)), [])

    def test_a_file_that_is_no_strict_json_is_refused(self):
        for text in ('[{"ts": NaN}]', '[{"a": 1, "a": 2}]', "[{}", "[{},]"):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(text)
                file.flush()
                self.assertRaises(ValueError, facts.strict_json, file.name)


class Tables(unittest.TestCase):
    HEAD = ("Name", "Duration(us)", "Task Wait Time(us)")

    def differ(self, expected, actual):
        tables = [[self.HEAD, *(tuple(facts.cell(c) for c in row) for row in rows)] for rows in (expected, actual)]
        return facts.compare_tables("t.csv", *tables)

    def test_the_form_of_a_number_does_not_matter(self):
        self.assertEqual(self.differ([("a", "48.000", "0")], [("a", "48", "0.0")]), [])

    def test_a_changed_cell_is_noticed(self):
        self.assertEqual(len(self.differ([("a", "48", "0")], [("a", "49", "0")])), 2)

    def test_another_order_of_lines_is_noticed(self):
        a, b = ("a", "1", "0"), ("b", "2", "0")
        self.assertEqual(len(self.differ([a, b], [b, a])), 1)

    def test_another_header_is_noticed(self):
        self.assertEqual(len(facts.compare_tables("t.csv", [self.HEAD], [self.HEAD[:2]])), 1)


class Sums(unittest.TestCase):
    def differ(self, expected, actual):
        rows = [[("op", facts.cell(value))] for value in (expected, actual)]
        return facts.differences("sums", *rows, nearly=facts.near_sum)

    def test_last_digits_of_a_double_do_not_matter(self):
        self.assertEqual(self.differ(0.9603200000000001, 0.96032), [])
        self.assertEqual(self.differ(1719838800143460.2, 1719838800143460.25), [])

    def test_another_ns_is_noticed(self):
        self.assertEqual(len(self.differ(0.003002, 0.003001)), 2)
        self.assertEqual(len(self.differ(5.12016, 5.12017)), 2)

    def test_another_count_is_noticed(self):
        self.assertEqual(len(self.differ(4, 5)), 2)


class Database(unittest.TestCase):
    def tables(self, names, order=(1, 2), connection=5):
        c = sqlite3.connect(":memory:")
        c.execute("create table STRING_IDS (id integer, value text)")
        c.execute("create table CANN_API (startNs integer, endNs integer, name integer, connectionId integer)")
        c.executemany("insert into STRING_IDS values (?, ?)", zip(order, names))
        c.executemany("insert into CANN_API values (?, ?, ?, ?)",
                      [(EPOCH_US * 1000 + i * 5000, EPOCH_US * 1000 + i * 5000 + 70, order[i], connection + i)
                       for i in range(2)])
        return facts.database(c)[0]

    def test_ids_of_strings_and_connections_do_not_matter(self):
        self.assertEqual(self.tables(["x", "y"]), self.tables(["x", "y"], (9, 4), 77))

    def test_another_string_is_noticed(self):
        self.assertNotEqual(self.tables(["x", "y"]), self.tables(["x", "z"]))


if __name__ == "__main__":
    unittest.main()
